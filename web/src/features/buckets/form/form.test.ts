import type { TFunction } from 'i18next';
import { describe, expect, test } from 'vitest';
import { algorithms } from '@/lib/definition';
import { newValues, shownInputs, splitLabel, toDefinition, toValues, withAlgorithm, type BucketValues } from './values';
import { validateBucket } from './validate';

const t = ((key: string) => key) as unknown as TFunction;

const good: BucketValues = {
  ...newValues('olivia'),
  name: 'partner-api',
  rate: 50,
  max_permits: 100,
  partition: 'shared',
  reason: 'because',
};

const check = (over: Partial<BucketValues>, creating = true) => validateBucket({ ...good, ...over }, t, creating);

describe('the rules of the bucket form', () => {
  test('accept a good bucket, and every bound itself', () => {
    expect(check({})).toEqual({});
    expect(check({ max_permits: 1_000_000_000, rate: 1_000_000_000, period: 31, periodUnit: 'd', maxWait: 3600 })).toEqual({});
    expect(check({ name: `a${'b'.repeat(127)}`, period: 1, periodUnit: 'ms', maxWait: 0.001 })).toEqual({});
  });

  test.each<[string, Partial<BucketValues>, keyof BucketValues]>([
    ['an empty name', { name: '' }, 'name'],
    ['a name that begins with a dot', { name: '.a' }, 'name'],
    ['a name of 129 characters', { name: 'a'.repeat(129) }, 'name'],
    ['HTML in the name', { name: '<b>' }, 'name'],
    ['no rate', { rate: '' }, 'rate'],
    ['a rate of 0', { rate: 0 }, 'rate'],
    ['a broken rate', { rate: 1.5 }, 'rate'],
    ['a rate over a billion', { rate: 1_000_000_001 }, 'rate'],
    ['a burst of 0', { max_permits: 0 }, 'max_permits'],
    ['a burst over a billion', { max_permits: 1_000_000_001 }, 'max_permits'],
    ['a period of 0', { period: 0 }, 'period'],
    ['a period over 31 days', { period: 32, periodUnit: 'd' }, 'period'],
    ['a bucket that fills in more than ten years', { rate: 1, period: 31, periodUnit: 'd', max_permits: 1_000_000_000 }, 'rate'],
    ['no partition', { partition: '' }, 'partition'],
    ['no owner', { owners: [] }, 'owners'],
    ['101 owners', { owners: Array.from({ length: 101 }, (_, i) => `u${i}`) }, 'owners'],
    ['1001 apps', { apps: Array.from({ length: 1001 }, (_, i) => `a${i}`) }, 'apps'],
    ['a label without a value', { labels: ['team'] }, 'labels'],
    ['a label named twice', { labels: ['team=a', 'team=b'] }, 'labels'],
    ['21 labels', { labels: Array.from({ length: 21 }, (_, i) => `k${i}=v`) }, 'labels'],
    ['a wait over an hour', { maxWait: 3601 }, 'maxWait'],
    ['a wait of half a millisecond', { maxWait: 0.0005 }, 'maxWait'],
    ['65 shards', { partition: 'key', shards: 65 }, 'shards'],
    ['no reason', { reason: '  ' }, 'reason'],
    ['a reason of 501 characters', { reason: 'x'.repeat(501) }, 'reason'],
    ['a description of 1001 characters', { description: 'x'.repeat(1001) }, 'description'],
  ])('refuse %s, at its field', (_what, over, field) => {
    expect(Object.keys(check(over))).toEqual([field]);
  });

  const withoutRate = algorithms.filter((algorithm) => algorithm !== 'token_bucket');

  test('ask for a rate only where there is one', () => {
    for (const algorithm of withoutRate) {
      expect(check({ algorithm, rate: '', period: 30 }), algorithm).toEqual({});
      expect(check({ algorithm, rate: 'x', period: 31, periodUnit: 'd', max_permits: 100_000 }), algorithm).toEqual({});
    }
  });

  test.each<[string, Partial<BucketValues>, keyof BucketValues]>([
    ['a window of over a billion', { algorithm: 'fixed_window', max_permits: 1_000_000_001 }, 'max_permits'],
    ['a sliding window of 0', { algorithm: 'sliding_window', max_permits: 0 }, 'max_permits'],
    ['a log of over 100,000', { algorithm: 'sliding_log', max_permits: 100_001 }, 'max_permits'],
    ['over 100,000 slots', { algorithm: 'concurrency', max_permits: 100_001 }, 'max_permits'],
    ['a lease below a second', { algorithm: 'concurrency', period: 999, periodUnit: 'ms' }, 'period'],
    ['a window of no time', { algorithm: 'fixed_window', period: '' }, 'period'],
    ['0 shards', { algorithm: 'sliding_log', partition: 'app_key', shards: 0 }, 'shards'],
  ])('refuse %s, at its field', (_what, over, field) => {
    expect(Object.keys(check(over))).toEqual([field]);
  });

  test('ask for name and reason at creation only', () => {
    expect(check({ name: '', reason: '' }, false)).toEqual({});
  });
});

describe('values and definition', () => {
  test('a definition comes through the form unchanged', () => {
    const definition = toDefinition({ ...good, labels: ['team=payments', 'note=a=b'], apps: ['checkout'], maxWait: 2.5 });
    expect(toDefinition(toValues({ ...definition, name: 'partner-api' }))).toEqual(definition);
    expect(definition).toMatchObject({ max_wait_ms: 2500, period_ms: 1000, labels: { team: 'payments', note: 'a=b' } });
  });

  test('a definition of each algorithm comes through the form unchanged, without a rate where there is none', () => {
    for (const algorithm of algorithms) {
      const definition = toDefinition({ ...good, algorithm, partition: 'key', shards: 64 });
      expect(definition).toMatchObject({ algorithm, rate: algorithm === 'token_bucket' ? 50 : 0, shards: 64 });
      expect(toDefinition(toValues({ ...definition, name: 'partner-api' }))).toEqual(definition);
    }
  });

  test('a rate outlives a look at another algorithm; a period left at the default follows it', () => {
    const looked = { ...good, ...withAlgorithm(good, 'concurrency') };
    expect(looked).toMatchObject({ algorithm: 'concurrency', rate: 50, period: 30, periodUnit: 's' });
    const back = { ...looked, ...withAlgorithm(looked, 'token_bucket') };
    expect(back).toEqual(good);
    expect(withAlgorithm({ ...good, period: 5 }, 'concurrency')).toEqual({ algorithm: 'concurrency' });
  });

  test('what is hidden takes no error of the server', () => {
    expect(shownInputs(good)).not.toContain('shards');
    expect(shownInputs(good)).toContain('rate');
    const keyed = shownInputs({ ...good, algorithm: 'sliding_log', partition: 'key' });
    expect(keyed).toContain('shards');
    expect(keyed).not.toContain('rate');
  });

  test('all apps stand alone, shards belong to keys, and the loss policy follows the partition', () => {
    expect(toDefinition({ ...good, apps: ['a', '*'] }).apps).toEqual(['*']);
    expect(toDefinition({ ...good, shards: 8 })).toMatchObject({ shards: 1, after_loss: 'refill' });
    expect(toDefinition({ ...good, partition: 'key', shards: 8 })).toMatchObject({ shards: 8, after_loss: 'full' });
  });

  test('a label splits at its first equals sign', () => {
    expect(splitLabel(' a = b=c ')).toEqual(['a', 'b=c']);
  });
});
