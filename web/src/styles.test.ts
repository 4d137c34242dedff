import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const core = 'node_modules/@mantine/core';
const sheets = new Set(readdirSync(`${core}/styles`).filter((name) => /^\w+\.css$/.test(name)).map((name) => name.slice(0, -'.css'.length)));
const imported = [...readFileSync('src/styles.ts', 'utf8').matchAll(/core\/styles\/([\w-]+)\.css/g)].map(([, name]) => name);

/** The components that our sources name, and those that notifications are made of. */
function named(): string[] {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
  const lists = sources.flatMap((file) => [...readFileSync(path.join('src', file), 'utf8').matchAll(/import \{([^}]*)\} from '@mantine\/core'/g)]);
  return ['Notification', ...lists.flatMap(([, names]) => (names ?? '').split(',').map((name) => name.trim()))];
}

/** All components that these are made of, by the imports of Mantine's own modules. */
function madeOf(names: string[]): Set<string> {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    // The one part of NavLink with folds, Accordion, is its chevron alone, which has no style.
    if (seen.has(name) || name === 'Accordion') return;
    seen.add(name);
    const folder = ['components', 'utils'].map((room) => `${core}/esm/${room}/${name}`).find((at) => readdirSync(path.dirname(at)).includes(name));
    if (!folder) return;
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) => one.endsWith('.mjs'))) {
      const at = path.join(folder, file);
      for (const [, from] of readFileSync(at, 'utf8').matchAll(/from "(\.[^"]+)"/g)) {
        const [room, other] = path.relative(`${core}/esm`, path.resolve(path.dirname(at), from ?? '')).split(path.sep);
        if ((room === 'components' || room === 'utils') && other) visit(other);
      }
    }
  };
  names.forEach(visit);
  return seen;
}

test('the styles of every component in use are loaded', () => {
  const missing = [...madeOf(named())].filter((name) => sheets.has(name) && !imported.includes(name));
  expect(missing).toEqual([]);
});

test('the styles of components stand in the order of Mantine’s own sheet', () => {
  const whole = readFileSync(`${core}/styles.css`, 'utf8');
  const places = imported.map((name) => whole.indexOf(readFileSync(`${core}/styles/${name}.css`, 'utf8').trim()));
  expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});
