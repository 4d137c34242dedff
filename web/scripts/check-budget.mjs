// Fails when the first load of a page weighs more than the budget.
import { budget, firstLoads } from './first-load.mjs';

const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1)} KB`;
const loads = ['en', 'zh-CN'].flatMap((language) => firstLoads(language).map((load) => ({ ...load, language })));
const heaviest = loads.sort((a, b) => b.bytes - a.bytes).filter((load, index, all) => all.findIndex(({ path }) => path === load.path) === index);

for (const { path, language, bytes, files } of heaviest) {
  console.log(`first load of ${path}: ${kilobytes(bytes)} gzip in ${files.length} files (${language})`);
}
console.log(`budget: ${kilobytes(budget)}`);
if (heaviest.some(({ bytes }) => bytes > budget)) {
  console.error('the first load of a page is over its budget; load what is not needed at once by a dynamic import');
  process.exit(1);
}
