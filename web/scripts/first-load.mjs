// What a browser without a cache must load before a page shows: the scripts and style sheets of the frame and of the page,
// and the parts of the texts that the page names. A browser test holds this count to what is really transferred.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const web = new URL('../', import.meta.url);
const dist = new URL('dist/', web);

/** The most that the first load of a page may weigh, in bytes as gzip packs them. */
export const budget = 300 * 1024;

// Loaded by a page as soon as it is there, though by a call of its own.
const soon = {
  AppPage: ['src/components/chart/LiveChart.tsx'],
  BucketPage: ['src/components/chart/LiveChart.tsx'],
};

const folders = { en: 'en', 'zh-CN': 'zh' };

/** The pages of the router: their path, the name of their component, their module, and their parts of the texts. */
function pages() {
  const router = readFileSync(new URL('src/app/router.tsx', web), 'utf8');
  const each = /path: '([^']+)',[^{}]*?page\(\(\) => import\('@\/([^']+)'\), '(\w+)'((?:, '\w+')*)\)/g;
  return [...router.matchAll(each)].map(([, path, module, name, parts]) => ({
    path: `/${path.replace(/^\//, '')}`,
    name,
    module: `src/${module}.tsx`,
    parts: ['base', ...[...parts.matchAll(/'(\w+)'/g)].map(([, part]) => part)],
  }));
}

/** The files that the first load of each page takes in a language, by the page's path; the names are those of the server. */
export function firstLoads(language) {
  const manifest = JSON.parse(readFileSync(new URL('manifest.json', dist), 'utf8'));
  const chunkOf = new Map(Object.values(manifest).map((chunk) => [chunk.file, chunk]));
  const collect = (chunk, files) => {
    if (files.has(chunk.file)) return;
    files.add(chunk.file);
    for (const css of chunk.css ?? []) files.add(css);
    for (const imported of chunk.imports ?? []) collect(manifest[imported], files);
  };
  const frame = new Set();
  for (const [, file] of readFileSync(new URL('index.html', dist), 'utf8').matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)) {
    const chunk = chunkOf.get(file);
    if (chunk) collect(chunk, frame);
    else frame.add(file); // a style sheet
  }
  return pages().map(({ path, name, module, parts }) => {
    const files = new Set(frame);
    const texts = parts.map((part) => `src/lib/i18n/${folders[language]}/${part}.ts`);
    for (const key of [module, ...(soon[name] ?? []), ...texts]) {
      if (!manifest[key]) throw new Error(`the build has no ${key}`);
      collect(manifest[key], files);
    }
    return { path, files: [...files].sort(), bytes: [...files].map(weigh).reduce((sum, size) => sum + size, 0) };
  });
}

function weigh(file) {
  return gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length;
}
