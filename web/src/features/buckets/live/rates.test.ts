import { describe, expect, test } from 'vitest';
import { delayToNext, ratesBetween, type Counter } from './rates';

const second = 1_000_000;
const minute = 29_000_000;
const start = minute * 60 * second;
const count = (at: number, app: string, granted: number, limited = 0): Counter => ({
  minute: at,
  app,
  granted,
  limited,
  shadow_limited: 0,
});

describe('rates between two readings', () => {
  test('are the growth of all apps together, per second', () => {
    const earlier = { redis_time_us: start + 1.75 * second, usage: [count(minute, 'a', 100, 10), count(minute, 'b', 5)] };
    const later = { redis_time_us: start + 2.75 * second, usage: [count(minute, 'a', 150, 160), count(minute, 'b', 8)] };
    expect(ratesBetween(earlier, later)).toMatchObject({ granted: 53, limited: 150, at: minute * 60 + 2.75 });
  });

  test('cross the minute: the old minute ends, the new one begins at nothing', () => {
    const earlier = { redis_time_us: start + 59.75 * second, usage: [count(minute - 1, 'a', 999), count(minute, 'a', 2950)] };
    const later = { redis_time_us: start + 60.75 * second, usage: [count(minute, 'a', 2980), count(minute + 1, 'a', 20)] };
    expect(ratesBetween(earlier, later)?.granted).toBe(50);
  });

  test('divide by whole seconds, since only whole seconds are reported', () => {
    const earlier = { redis_time_us: start + 1.7 * second, usage: [count(minute, 'a', 0)] };
    const later = { redis_time_us: start + 3.82 * second, usage: [count(minute, 'a', 100)] };
    expect(ratesBetween(earlier, later)?.granted).toBe(50);
  });

  test('begin again when Redis lost its counters', () => {
    const earlier = { redis_time_us: start, usage: [count(minute, 'a', 5000)] };
    const later = { redis_time_us: start + second, usage: [count(minute, 'a', 40)] };
    expect(ratesBetween(earlier, later)?.granted).toBe(40);
  });

  test('are unknown when the readings lie too close together or too far apart', () => {
    const at = (us: number) => ({ redis_time_us: start + us, usage: [] });
    expect(ratesBetween(at(0), at(0.4 * second))).toBeNull();
    expect(ratesBetween(at(0), at(-5 * second))).toBeNull();
    expect(ratesBetween(at(0), at(300 * second))).toBeNull();
  });
});

test('the next reading falls 0.75 s past a second of Redis, never sooner than 0.25 s', () => {
  for (const us of [0, 1, 250_000, 499_999, 500_000, 600_000, 749_999, 750_000, 999_999]) {
    const delay = delayToNext(start + us);
    expect((us + delay * 1000) % second, `after ${us} µs`).toBeCloseTo(750_000, 3);
    expect(delay).toBeGreaterThanOrEqual(250);
    expect(delay).toBeLessThan(1250);
  }
});
