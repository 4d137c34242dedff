import { expect, test } from 'vitest';
import { joinUsage, missingMinutes, type KnownUsage } from './known-usage';

const at = (minute: number, minutes: number[], granted = 1): KnownUsage => ({
  items: minutes.map((one) => ({ minute: one, app: 'checkout', granted, limited: 0, shadow_limited: 0 })),
  redis_time_us: (minute + 0.5) * 60_000_000,
  step_minutes: 1,
  wholeAt: 0,
});

const told = (usage: KnownUsage | null) => usage?.items?.map(({ minute, granted }) => [minute, granted]);

test('the newest minutes replace what was known of them, and what left the range is dropped', () => {
  const known = at(100, [41, 42, 98, 99, 100]);
  expect(told(joinUsage(known, at(101, [99, 100, 101], 7), 3, 60))).toEqual([[42, 1], [98, 1], [99, 7], [100, 7], [101, 7]]);
  // A minute that is asked for again and has no row any more has none.
  expect(told(joinUsage(known, at(101, [101], 7), 3, 60))).toEqual([[42, 1], [98, 1], [101, 7]]);
});

test('minutes that were never asked for are not taken for empty', () => {
  expect(joinUsage(at(100, [100]), at(104, [104]), 3, 60)).toBeNull();
  expect(joinUsage(at(100, [100]), at(103, [103]), 3, 60)).not.toBeNull();
});

test('only what may have changed is asked for, and from time to time all', () => {
  const minute = 60_000;
  expect(missingMinutes(undefined, 0, 1_440, minute)).toBeNull();
  expect(missingMinutes(at(100, []), minute, 1_440, 2 * minute)).toBe(6);
  expect(missingMinutes(at(100, []), 15 * minute, 1_440, 16 * minute)).toBeNull();
  expect(missingMinutes(at(100, []), 2 * minute, 1_440, minute)).toBeNull(); // the clock was put back
  expect(missingMinutes(at(100, []), 0, 5, minute)).toBeNull(); // not worth it
});
