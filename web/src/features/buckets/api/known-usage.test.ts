import { describe, expect, test } from 'vitest';
import { correctUsage, joinUsage, missingMinutes, olderMinutes, type OlderMinutes } from './known-usage';

const at = (minute: number, minutes: number[], granted = 1) => ({
  items: minutes.map((one) => ({ minute: one, app: 'checkout', granted, limited: 0, shadow_limited: 0 })),
  redis_time_us: (minute + 0.5) * 60_000_000,
  step_minutes: 1,
});

const told = (usage: ReturnType<typeof joinUsage>) => usage?.items.map(({ minute, granted }) => [minute, granted]);

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

test('only what may have changed is asked for, and all where little is known', () => {
  const minute = 60_000; // ms
  expect(missingMinutes(undefined, 0, 1_440, minute)).toBeNull();
  expect(missingMinutes(at(100, []), minute, 1_440, 2 * minute)).toBe(6);
  expect(missingMinutes(at(100, []), 2 * minute, 1_440, minute)).toBeNull(); // the clock was put back
  expect(missingMinutes(at(100, []), 0, 1_440, 800 * minute)).toBeNull(); // long away
  expect(missingMinutes(at(100, []), 0, 0, minute)).toBeNull(); // of another range than minutes
});

describe('older minutes', () => {
  const correct = (known: ReturnType<typeof at>, older: number[], asked: OlderMinutes, granted = 1) => correctUsage(known, at(100, older, granted), asked, 60);

  test('replace what was known of them', () => {
    const corrected = correct(at(100, [50, 59, 60, 63, 64, 100]), [60, 61], { minutes: 4, until: 63 }, 7);
    expect(told(corrected)).toEqual([[50, 1], [59, 1], [60, 7], [61, 7], [64, 1], [100, 1]]);
  });

  test('are added also before all that is known, but not out of the range', () => {
    expect(told(correct(at(100, [60]), [40, 41, 42], { minutes: 4, until: 43 }))).toEqual([[41, 1], [42, 1], [60, 1]]);
  });

  test.each([
    [[60, 61], 1, true],
    [[60, 61], 2, false],
    [[60], 1, false],
    [[60, 61, 62], 1, false],
    [[60, 62], 1, false],
  ])('%j with %i permits each leave what is known as it is: %s', (older, granted, same) => {
    const known = at(100, [59, 60, 61, 64]);
    expect(correct(known, older, { minutes: 4, until: 63 }, granted) === known).toBe(same);
  });

  test.each([60, 1_440])('of %i are each asked for again within 15 questions, and so on', (range) => {
    let asked: OlderMinutes | null = null;
    for (let round = 0; round < 3; round++) {
      const minutes = new Set<number>();
      for (let i = 1; i <= 15; i++) {
        asked = olderMinutes(at(10_000 + 15 * round + i, []), range, asked);
        for (let m = asked.until - asked.minutes + 1; m <= asked.until; m++) minutes.add(m);
      }
      const last = 10_000 + 15 * round + 15;
      const newest = 20; // minutes; which were asked for meanwhile as the newest ones
      for (let m = last - range + 1; m <= last - newest; m++) expect(minutes, `minute ${m - last} of round ${round}`).toContain(m);
    }
  });
});
