import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parts, type Part } from '@/lib/i18n/parts';

// Each page names the parts of the texts that it shows; one that it forgets would stand there as its key. What a page
// shows is found in the sources that it imports, those of its dialogs and of whatever else comes later included.

/** Which part holds a group of texts, such as "bucket" of "bucket.title". */
async function groups(): Promise<Map<string, Part>> {
  const found = new Map<string, Part>();
  for (const [part, load] of Object.entries(parts.en)) {
    for (const texts of Object.values((await load()) as object) as object[]) {
      for (const group of Object.keys(texts)) found.set(group, part as Part);
    }
  }
  return found;
}

function file(from: string, to: string): string | undefined {
  const at = to.startsWith('@/') ? join('src', to.slice(2)) : join(dirname(from), to);
  return ['.ts', '.tsx', '/index.ts'].map((end) => at + end).find((path) => existsSync(path));
}

/** A source and all that it imports, at once or later; the router's pages are each a world of their own. */
function reached(start: string, found = new Set<string>()): Set<string> {
  if (found.has(start) || start.includes('/i18n/')) return found;
  found.add(start);
  const source = readFileSync(start, 'utf8');
  const imports = start.endsWith('/router.tsx') ? /from '([@.][^']*)'/g : /(?:from |import\()'([@.][^']*)'/g;
  for (const [, to] of source.matchAll(imports)) {
    const path = file(start, to ?? '');
    if (path) reached(path, found);
  }
  return found;
}

/** The groups that the calls of t in these sources begin with. */
function said(sources: Iterable<string>): Set<string> {
  const found = new Set<string>();
  for (const path of sources) {
    for (const [, call] of readFileSync(path, 'utf8').matchAll(/\bt\(([^;]*?)[,){]/g)) {
      for (const [, group] of (call ?? '').matchAll(/['`](\w+)\./g)) found.add(group ?? '');
    }
  }
  return found;
}

const frame = reached('src/main.tsx');
const pages = [...readFileSync('src/app/router.tsx', 'utf8').matchAll(/page\(\(\) => import\('([^']+)'\), '(\w+)'((?:, '\w+')*)\)/g)].map(
  ([, path, name, named]) => ({ path: file('src', path ?? '') ?? '', name: name ?? '', named: [...(named ?? '').matchAll(/'(\w+)'/g)].map(([, part]) => part) }),
);

describe('the parts of the texts', () => {
  it('are the same in both languages, and every file of texts is in one', async () => {
    expect(Object.keys(parts['zh-CN'])).toEqual(Object.keys(parts.en));
    for (const language of ['en', 'zh']) {
      const base = readFileSync(`src/lib/i18n/${language}/base.ts`, 'utf8');
      const files = readdirSync(`src/lib/i18n/${language}`).map((name) => name.replace('.ts', ''));
      const homeless = files.filter((name) => name !== 'index' && !(name in parts.en) && !base.includes(`'./${name}'`));
      expect(homeless, language).toEqual([]);
    }
  });

  it('that the frame of every page shows are in the base, but for what it loads itself', async () => {
    const known = await groups();
    const beyond = [...said(frame)].filter((group) => known.get(group) !== 'base');
    // The keys and the palette name "create bucket" and pages; what rule was broken is loaded by the answer that tells it.
    expect(beyond.sort()).toEqual(['asOf', 'brokenRule', 'buckets', 'deleted']);
  });

  it.each(pages)('that $name shows are loaded with it, and no others', async ({ path, named }) => {
    const known = await groups();
    const own = [...reached(path)].filter((one) => !frame.has(one));
    const shown = new Set([...said(own)].map((group) => known.get(group) ?? `none for ${group}`));
    expect([...shown].filter((part) => part !== 'base' && part !== 'rules').sort()).toEqual([...named].sort());
  });

  it('are named by every page of the router', () => {
    expect(pages.length).toBe([...readFileSync('src/app/router.tsx', 'utf8').matchAll(/import\('/g)].length);
  });
});
