import { expect, test } from 'vitest';
import type { StreamAppSample } from '@/lib/api/stream';
import { bucketShares } from './bucket-shares';

const used = (granted: number, limited = 0, shadow_limited = 0) => ({ granted, limited, shadow_limited });
const range = (...names: [string, number][]) => names.map(([name, granted]) => ({ name, deleted: false, ...used(granted) }));

function sample(more: Partial<StreamAppSample>): StreamAppSample {
  return { app: 'shop', redis: true, redis_time_us: 1, rates: used(1), buckets: [], others: null, ...more };
}

test('shares are parts of all that was asked for, also of what is not told by name', () => {
  const found = bucketShares({ buckets: range(['a', 60], ['b', 20]), others: { buckets: 7, ...used(10, 5, 5) } }, null);
  expect(found.map(({ name, buckets, share, now }) => [name, buckets, share, now])).toEqual([
    ['a', 1, 0.6, null],
    ['b', 1, 0.2, null],
    [null, 7, 0.2, null],
  ]);
  expect(bucketShares({ buckets: range(['idle', 0]), others: null }, null)[0]?.share).toBe(0);
  const gone = bucketShares({ buckets: [{ name: 'a', deleted: true, ...used(5) }], others: null }, sample({ buckets: [{ name: 'new', ...used(1) }] }));
  expect(gone.map(({ name, deleted }) => [name, deleted])).toEqual([['a', true], ['new', false]]);
  expect(bucketShares({ buckets: [], others: null }, sample({}))).toEqual([]);
});

test('a bucket that the stream does not name is idle, unless the stream sums up others', () => {
  const usage = { buckets: range(['a', 60], ['b', 20]), others: null };
  const now = (more: Partial<StreamAppSample>) => bucketShares(usage, sample(more)).map((row) => row.now?.granted ?? null);
  const a = [{ name: 'a', ...used(5) }];
  expect(now({ buckets: a })).toEqual([5, 0]);
  expect(now({ buckets: a, others: { buckets: 3, ...used(2) } })).toEqual([5, null]);
  expect(now({ buckets: a, rates: null })).toEqual([null, null]);
});

test('a bucket that was just begun to be used has a row at once, or is one of the others', () => {
  const buckets = [{ name: 'a', ...used(5) }, { name: 'new', ...used(3, 1, 2) }];
  const rows = bucketShares({ buckets: range(['a', 60]), others: null }, sample({ buckets }));
  expect(rows.map(({ name, share, now }) => [name, share, now?.limited])).toEqual([
    ['a', 1, 0],
    ['new', 0, 1],
  ]);
  const all = bucketShares({ buckets: range(['a', 60]), others: { buckets: 9, ...used(20) } }, sample({ buckets, others: { buckets: 2, ...used(4, 5, 6) } }));
  expect(all.map(({ name, now }) => [name, now?.granted, now?.limited, now?.shadow_limited])).toEqual([
    ['a', 5, 0, 0],
    [null, 7, 6, 8],
  ]);
});
