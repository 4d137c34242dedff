import { expect, test } from 'vitest';
import type { Change } from '@/lib/api/types';
import { joined, limitHistory, shares, toSamples, type Sample } from './series';

const row = (minute: number, app: string, granted: number, limited = 0, shadow_limited = 0) => ({ minute, app, granted, limited, shadow_limited });

test('rows become rates over their step, apps together, gaps as zero, the running step over its elapsed part', () => {
  const now = 100 * 60 + 30;
  const samples = toSamples([row(98, 'a', 60), row(98, 'b', 60, 30), row(100, 'a', 60)], 1, now, 180, () => 5);
  expect(samples.map((s) => s.at / 60)).toEqual([98, 99, 100]);
  expect(samples.map((s) => s.granted)).toEqual([2, 0, 2]);
  expect(samples[0]?.limited).toBe(0.5);
  expect(samples[2]?.limit).toBe(5);
});

test('what lies outside of the range, or of its steps, is left out', () => {
  const samples = toSamples([row(97, 'a', 60), row(98, 'a', 60), row(99.5, 'a', 60), row(101, 'a', 60)], 1, 100 * 60 + 60, 180, () => null);
  expect(samples.map((s) => [s.at / 60, s.granted])).toEqual([[99, 0], [100, 0], [101, 60]]);
});

test('shares are parts of all that was asked for, the greatest first', () => {
  const found = shares([row(1, 'small', 10), row(1, 'big', 20, 5), row(2, 'big', 0, 0, 5)]);
  expect(found.map(({ app, share }) => [app, share])).toEqual([
    ['big', 0.75],
    ['small', 0.25],
  ]);
  expect(shares([row(1, 'idle', 0)])[0]?.share).toBe(0);
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

test('seconds that nobody saw are a gap in the lines, and whole minutes before the first second are none', () => {
  const at = (second: number): Sample => ({ at: second, granted: 7, limited: 1, shadowLimited: 0, limit: 9 });
  const drawn = joined([at(0), at(60), at(120)], [at(130), at(131), at(140), at(141)]);
  expect(drawn.map((sample) => sample.at)).toEqual([0, 59, 60, 119, 130, 131, 132, 140, 141]);
  expect(drawn.flatMap((sample) => (sample.gap ? [sample.at] : []))).toEqual([132]);
});
