import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { actions } from '@/lib/actions';
import en from '@/lib/i18n/en';
import zh from '@/lib/i18n/zh';

type Tree = { [key: string]: string | Tree };

function flatten(tree: Tree, prefix = ''): Map<string, string> {
  const flat = new Map<string, string>();
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === 'string') flat.set(prefix + key, value);
    else for (const [inner, text] of flatten(value, `${prefix}${key}.`)) flat.set(inner, text);
  }
  return flat;
}

const texts = { en: flatten(en), zh: flatten(zh) };
const variables = (text: string) => [...text.matchAll(/\{\{\s*(\w+)/g)].map((match) => match[1]).sort();

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'i18n' ? [] : sources(path);
    return /\.tsx?$/.test(entry.name) && !entry.name.includes('.test.') ? [readFileSync(path, 'utf8')] : [];
  });
}

describe('the two languages', () => {
  test('have the same keys', () => {
    expect([...texts.zh.keys()].sort()).toEqual([...texts.en.keys()].sort());
  });

  test('have no empty text, and the same variables in each', () => {
    for (const [key, text] of texts.en) {
      const other = texts.zh.get(key) ?? '';
      expect(text.trim(), key).not.toBe('');
      expect(other.trim(), key).not.toBe('');
      expect(variables(other), key).toEqual(variables(text));
    }
  });

  test('cover every key that the source names', () => {
    const plural = (key: string) => texts.en.has(`${key}_other`);
    const named = sources('src').flatMap((source) => [...source.matchAll(/\bt\(\s*'([\w.]+)'/g)].map((match) => match[1] ?? ''));
    expect(named.length).toBeGreaterThan(100);
    expect([...new Set(named)].filter((key) => !texts.en.has(key) && !plural(key))).toEqual([]);
  });

  test('name every action that the audit log filters by', () => {
    for (const action of actions) expect([...texts.en.keys()]).toContain(`action.${action.replaceAll('.', '_')}`);
  });
});
