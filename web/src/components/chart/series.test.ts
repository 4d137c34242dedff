import { expect, test } from 'vitest';
import type { Change } from '@/lib/api/types';
import { joined, limitHistory, noSamples, sameWhole, shares, toSamples, type Sample, type Samples } from './series';

const row = (minute: number, app: string, granted: number, limited = 0, shadow_limited = 0) => ({ minute, app, granted, limited, shadow_limited });

test('rows become rates over their step, apps together, gaps as zero, the running step over its elapsed part', () => {
  const now = 100 * 60 + 30;
  const samples = toSamples([row(98, 'a', 60), row(98, 'b', 60, 30, 15), row(100, 'a', 60)], 1, now, 180, () => 5);
  expect([...samples.at]).toEqual([98 * 60, 99 * 60, 100 * 60]);
  expect([...samples.granted]).toEqual([2, 0, 2]);
  expect([...samples.limited]).toEqual([0.75, 0, 0]);
  expect([...samples.limit]).toEqual([5, 5, 5]);
});

test('what lies outside of the range, or of its steps, is left out', () => {
  const samples = toSamples([row(97, 'a', 60), row(98, 'a', 60), row(99.5, 'a', 60), row(101, 'a', 60)], 1, 100 * 60 + 60, 180, () => null);
  expect([...samples.at]).toEqual([99 * 60, 100 * 60, 101 * 60]);
  expect([...samples.granted]).toEqual([0, 0, 60]);
  expect([...samples.limit]).toEqual([NaN, NaN, NaN]);
});

test('shares are parts of all that was asked for, the greatest first', () => {
  const found = shares([row(1, 'small', 10), row(1, 'big', 20, 5), row(2, 'big', 0, 0, 5)]);
  expect(found.map(({ app, share }) => [app, share])).toEqual([
    ['big', 0.75],
    ['small', 0.25],
  ]);
  expect(shares([row(1, 'idle', 0)])).toEqual([]); // as of a bucket that has just begun: then it is said that there was nothing
});

test('the limit line follows what was in force at each instant', () => {
  const limit = (rate: number, partition = 'shared') => ({ algorithm: 'token_bucket', rate, period_ms: 1000, max_permits: 100, partition, mode: 'enforce' });
  const change = (second: number, before: object | null, after: object | null) =>
    ({ at: new Date(second * 1000).toISOString(), before, after }) as unknown as Change;
  const changes = [change(300, limit(80), limit(20, 'app')), change(200, limit(50), limit(80)), change(100, null, limit(50))];
  const at = limitHistory(limit(20, 'app'), changes);
  expect([50, 150, 250, 350].map(at)).toEqual([null, 50, 80, null]);
  expect([350, 250, 200, 199, 100, 99, 260, 50].map(at)).toEqual([null, 80, 80, 50, 50, null, 80, null]);
});

const second = (at: number): Sample => ({ at, granted: 7, limited: 1, limit: 9 });
/** Minutes in which 1, 2, 3 … permits a second were granted, up to one that runs. */
const minutes = (from: number, to: number): Samples => {
  const rows = Array.from({ length: to - from + 1 }, (_, i) => row(from + i, 'a', 60 * (i + 1)));
  return toSamples(rows, 1, (to + 1) * 60, rows.length * 60 + 60, () => 9);
};

test('before the first second stand the means of minutes, and where seconds are missing the means of theirs', () => {
  const drawn = joined(toSamples([1, 2, 3, 4, 5].map((n) => row(n - 1, 'a', 60 * n)), 1, 299.9, 300, () => 9), [130, 131, 250.5, 251.5, 253.5].map(second));
  const times = [...drawn.at];
  expect(times).toEqual([0, 59, 60, 119, 120, 129, 130, 131, 132, 179, 180, 239, 240, 249.5, 250.5, 251.5, 253.5]);
  expect([...drawn.granted].map(Math.round)).toEqual([1, 1, 2, 2, 3, 3, 7, 7, 3, 3, 4, 4, 5, 5, 7, 7, 7]);
  expect([...drawn.limit]).toEqual(times.map(() => 9));
});

test('a minute that runs is drawn up to the first second, and not without one', () => {
  const running = (seconds: number[]) => [...joined(minutes(1, 2), seconds.map(second)).at];
  expect(running([])).toEqual([60, 119, 120, 179]);
  expect(running([200])).toEqual([60, 119, 120, 179, 180, 199, 200]);
  expect(running([180.5])).toEqual([60, 119, 120, 179, 180, 180, 180.5]);
});

test('seconds of minutes that are not known are a gap in the lines', () => {
  const gaps = (known: Samples, seconds: number[]) => {
    const { at, granted, limited, limit } = joined(known, seconds.map(second));
    return [...at].filter((_, i) => [granted, limited, limit].every((column) => Number.isNaN(column[i])));
  };
  expect(gaps(noSamples, [130, 131, 140])).toEqual([132]);
  expect(gaps(minutes(5, 6), [130, 251])).toEqual([131]); // before them
  expect(gaps(minutes(4, 4), [130, 251])).toEqual([131]);
  expect(gaps(minutes(1, 1), [130, 400])).toEqual([180]); // behind them
  expect(gaps(minutes(1, 3), [130, 239])).toEqual([]);
});

test('what came without a gap is drawn as it is', () => {
  expect([...joined(noSamples, [130, 131, 134].map(second)).at]).toEqual([130, 131, 134]);
});

test('minutes are the same until one of them is over, or another figure of one that is', () => {
  const at = (now: number, granted: number, limit: number | null = null) => toSamples([row(1, 'a', 60), row(2, 'a', granted), row(3, 'a', now)], 1, 180 + now, 180, () => limit);
  expect(sameWhole(at(7, 60), at(7, 60))).toBe(true);
  expect(sameWhole(at(7, 60), at(8, 60))).toBe(true); // the running one
  expect(sameWhole(at(7, 60), at(7, 61))).toBe(false);
  expect(sameWhole(at(7, 60), at(7, 60, 5))).toBe(false);
  expect(sameWhole(minutes(1, 3), minutes(2, 4))).toBe(false);
  expect(sameWhole(minutes(1, 3), noSamples)).toBe(false);
});
