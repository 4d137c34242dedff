import { describe, expect, test } from 'vitest';
import { endsSoon, isTokenName, lives, usualLife } from './choices';

describe('a token', () => {
  test('is named by what stands in logs and CSV without trouble', () => {
    for (const name of ['a', 'ci-deploy', 'nightly.export_2', 'x'.repeat(64)]) expect(isTokenName(name), name).toBe(true);
    for (const name of ['', 'a b', '-x', '=cmd()', 'a\r\nb', 'ü', 'x'.repeat(65)]) expect(isTokenName(name), name).toBe(false);
  });

  test('lives a year at most', () => {
    expect(Math.max(...lives)).toBe(365);
    expect(lives).toContain(usualLife);
  });

  test('warns in the two weeks before its end, and not after it', () => {
    const now = new Date('2026-03-01T12:00:00Z');
    expect(endsSoon('2026-03-15T11:59:59Z', now)).toBe(true);
    expect(endsSoon('2026-03-15T12:00:00Z', now)).toBe(false);
    expect(endsSoon('2026-03-01T11:59:59Z', now)).toBe(false);
  });
});
