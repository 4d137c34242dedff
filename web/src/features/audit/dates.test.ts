import { describe, expect, it } from 'vitest';
import { instantOf } from './dates';

describe('instantOf', () => {
  it('reads a date and time in the zone that the reader chose', () => {
    expect(instantOf('2026-11-21T10:30', 'UTC')).toBe('2026-11-21T10:30:00.000Z');
    expect(instantOf('2026-11-21T10:30', 'local')).toBe(new Date(2026, 10, 21, 10, 30).toISOString());
  });

  it('takes nothing else', () => {
    for (const text of ['', '2026-11-21', '2026-13-41T10:30', 'now']) expect(instantOf(text, 'UTC')).toBe('');
  });
});
