// Fails when what the browser must load before the first page shows weighs more than the budget.
// Counted: the entry script, what it imports statically, their style sheets, and the larger language file.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const budget = 300 * 1024;
const dist = new URL('../dist/', import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('manifest.json', dist), 'utf8'));

const files = new Set();
function collect(key) {
  const chunk = manifest[key];
  if (files.has(chunk.file)) return;
  files.add(chunk.file);
  for (const css of chunk.css ?? []) files.add(css);
  for (const imported of chunk.imports ?? []) collect(imported);
}
const weigh = (file) => gzipSync(readFileSync(new URL(file, dist))).length;

for (const [key, chunk] of Object.entries(manifest)) {
  if (chunk.isEntry) collect(key);
}
const languages = Object.keys(manifest).filter((key) => /src\/lib\/i18n\/(en|zh)\/index\.ts$/.test(key));
if (languages.length !== 2) throw new Error(`expected two language files in the manifest, found ${languages.length}`);
const language = Math.max(...languages.map((key) => weigh(manifest[key].file)));

const total = [...files].map(weigh).reduce((sum, size) => sum + size, 0) + language;
const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1)} KB`;
console.log(`first load: ${kilobytes(total)} gzip in ${files.size + 1} files (budget ${kilobytes(budget)})`);
if (total > budget) {
  console.error('the first load is over its budget; load what is not needed at once by a dynamic import');
  process.exit(1);
}
