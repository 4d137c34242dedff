import { describe, expect, test } from 'vitest';
import { compareEdits, diffFields, equal, rebase } from './fields';

describe('the difference of two snapshots', () => {
  test('lists the changed fields only, in the given order and then by name', () => {
    const before = { rate: 50, mode: 'enforce', apps: ['a'], zeta: 1, beta: 1 };
    const after = { rate: 25, mode: 'enforce', apps: ['a', 'b'], zeta: 2, beta: 2 };
    expect(diffFields(before, after, ['apps', 'rate'])).toEqual([
      { field: 'apps', before: ['a'], after: ['a', 'b'] },
      { field: 'rate', before: 50, after: 25 },
      { field: 'beta', before: 1, after: 2 },
      { field: 'zeta', before: 1, after: 2 },
    ]);
  });

  test('of a creation shows every field as added, of a deletion as removed', () => {
    expect(diffFields(null, { rate: 1 })).toEqual([{ field: 'rate', before: undefined, after: 1 }]);
    expect(diffFields({ rate: 1 }, null)).toEqual([{ field: 'rate', before: 1, after: undefined }]);
    expect(diffFields(null, null)).toEqual([]);
  });

  test('compares maps by content, lists by order', () => {
    expect(equal({ a: 1, b: { d: 1, c: 2 } }, { b: { c: 2, d: 1 }, a: 1 })).toBe(true);
    expect(equal(['a', 'b'], ['b', 'a'])).toBe(false);
    expect(equal(0, '')).toBe(false);
    expect(equal(undefined, null)).toBe(true);
  });
});

describe('two edits of one base', () => {
  const base = { rate: 50, mode: 'enforce', max: 100, note: 'x' };
  const theirs = { rate: 40, mode: 'enforce', max: 200, note: 'y' };
  const yours = { rate: 25, mode: 'shadow', max: 100, note: 'y' };

  test('are laid side by side, with conflicts only where both changed a field differently', () => {
    const merged = compareEdits(base, theirs, yours, ['rate', 'mode', 'max', 'note']);
    expect(merged.map(({ field, conflict }) => [field, conflict])).toEqual([
      ['rate', true],
      ['mode', false],
      ['max', false],
      ['note', false],
    ]);
  });

  test('join so that your changed fields stay yours and all others become theirs', () => {
    expect(rebase(base, theirs, yours)).toEqual({ rate: 25, mode: 'shadow', max: 200, note: 'y' });
  });
});
