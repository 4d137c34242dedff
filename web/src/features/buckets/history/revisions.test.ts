import { expect, test } from 'vitest';
import { matchingRevisions } from './revisions';

const all = Array.from({ length: 300 }, (_, i) => ({ value: String(300 - i), label: `Revision ${300 - i}` }));
const values = (typed: string, most = 100) => matchingRevisions(all, typed, most).map(({ value }) => value);

test('all revisions are offered, the newest first, up to the bound', () => {
  expect(values('').slice(0, 2)).toEqual(['300', '299']);
  expect(values('')).toHaveLength(100);
});

test('a number that is typed comes first, however many others hold its digits', () => {
  expect(values('2', 3)).toEqual(['2', '299', '298']);
  expect(values('Revision 17', 2)).toEqual(['179', '178']);
  expect(values('301')).toEqual([]);
});
