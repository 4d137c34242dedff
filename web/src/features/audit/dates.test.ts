import { afterEach, describe, expect, it } from 'vitest';
import { instantOf, startOfDay } from './dates';

const here = process.env.TZ;
afterEach(() => {
  if (here === undefined) delete process.env.TZ;
  else process.env.TZ = here;
});

describe('startOfDay', () => {
  // What a day of the history is asked for with: its first instant, and that of the next day.
  const hours = (day: string) => (Date.parse(startOfDay(day, 'local', 1)) - Date.parse(startOfDay(day, 'local'))) / 3_600_000;

  it('takes a day for as long as it is where clocks are put forward and back', () => {
    process.env.TZ = 'America/New_York';
    expect(startOfDay('2026-03-08', 'local')).toBe('2026-03-08T05:00:00.000Z');
    expect(['2026-03-07', '2026-03-08', '2026-11-01', '2026-11-02'].map(hours)).toEqual([24, 23, 25, 24]);
    expect(startOfDay('2026-03-08', 'UTC', 1)).toBe('2026-03-09T00:00:00.000Z');
  });

  it('begins with the first instant of a day that has no midnight, and of one that has two', () => {
    process.env.TZ = 'Africa/Cairo';
    expect(startOfDay('2026-04-24', 'local')).toBe('2026-04-23T22:00:00.000Z');
    expect(['2026-04-23', '2026-04-24'].map(hours)).toEqual([24, 23]);
    process.env.TZ = 'America/Havana';
    expect(startOfDay('2026-11-01', 'local')).toBe('2026-11-01T04:00:00.000Z');
    expect(hours('2026-11-01')).toBe(25);
  });
});

describe('instantOf', () => {
  it('reads a date and time in the zone that the reader chose', () => {
    expect(instantOf('2026-11-21T10:30', 'UTC')).toBe('2026-11-21T10:30:00.000Z');
    expect(instantOf('2026-11-21T10:30', 'local')).toBe(new Date(2026, 10, 21, 10, 30).toISOString());
  });

  it('takes a time that the clocks pass over for the one that they show then, and one that comes twice for the first', () => {
    process.env.TZ = 'America/New_York';
    expect(instantOf('2026-03-08T02:30', 'local')).toBe('2026-03-08T07:30:00.000Z');
    expect(instantOf('2026-11-01T01:30', 'local')).toBe('2026-11-01T05:30:00.000Z');
  });

  it('takes nothing else', () => {
    for (const text of ['', '2026-11-21', '2026-13-41T10:30', 'now']) expect(instantOf(text, 'UTC')).toBe('');
  });
});
