import { splitPeriod, joinPeriod, type PeriodUnit } from '@/lib/format/limit';
import type { Definition, DefinitionInput } from '@/lib/api/types';
import { allApps, isKeyed, limitKind } from '@/lib/definition';

/** What the inputs of the bucket form hold. Numbers may be "" while they are being typed. */
export interface BucketValues {
  name: string;
  description: string;
  labels: string[]; // "key=value"
  apps: string[];
  owners: string[];
  algorithm: string;
  max_permits: number | string;
  rate: number | string; // kept while an algorithm without a rate is chosen, and not sent then
  period: number | string; // in periodUnit
  periodUnit: PeriodUnit;
  partition: string; // "" until chosen
  shards: number | string;
  mode: string;
  maxWait: number | string; // s
  on_redis_failure: string;
  after_loss: string; // "" = the default of the partition
  reason: string; // asked here only at creation
}

/** The inputs whose names differ from the API's fields that they hold. */
export const inputNames: Readonly<Record<string, string>> = { period_ms: 'period', max_wait_ms: 'maxWait' };

/** The inputs that are on the page. */
export function shownInputs(values: BucketValues): string[] {
  const hidden = new Set([...(limitKind(values.algorithm) === 'rate' ? [] : ['rate']), ...(isKeyed(values.partition) ? [] : ['shards'])]);
  return Object.keys(values).filter((input) => !hidden.has(input));
}

/** The period that a new bucket gets: long enough for a lease that a holder's pause does not end. */
function defaultPeriod(algorithm: string): Pick<BucketValues, 'period' | 'periodUnit'> {
  return { period: limitKind(algorithm) === 'slots' ? 30 : 1, periodUnit: 's' };
}

/** The values of a bucket that is not there yet. */
export function newValues(me: string): BucketValues {
  return {
    name: '',
    description: '',
    labels: [],
    apps: [],
    owners: [me],
    algorithm: 'token_bucket',
    max_permits: '',
    rate: '',
    ...defaultPeriod('token_bucket'),
    partition: '',
    shards: 1,
    mode: 'enforce',
    maxWait: 10,
    on_redis_failure: 'open',
    after_loss: '',
    reason: '',
  };
}

/** Another algorithm; a period that was left at the default follows it. */
export function withAlgorithm(values: BucketValues, algorithm: string): Partial<BucketValues> {
  const { period, periodUnit } = defaultPeriod(values.algorithm);
  const untouched = values.period === period && values.periodUnit === periodUnit;
  return { algorithm, ...(untouched ? defaultPeriod(algorithm) : {}) };
}

/** The values that show a definition. */
export function toValues(bucket: Definition & { name: string }): BucketValues {
  const { count, unit } = splitPeriod(bucket.period_ms);
  return {
    name: bucket.name,
    description: bucket.description,
    labels: Object.entries(bucket.labels).map(([key, value]) => `${key}=${value}`),
    apps: [...bucket.apps],
    owners: [...bucket.owners],
    algorithm: bucket.algorithm,
    max_permits: bucket.max_permits,
    rate: bucket.rate || '',
    period: count,
    periodUnit: unit,
    partition: bucket.partition,
    shards: bucket.shards,
    mode: bucket.mode,
    maxWait: bucket.max_wait_ms / 1000,
    on_redis_failure: bucket.on_redis_failure,
    after_loss: bucket.after_loss,
    reason: '',
  };
}

/** The definition that the values stand for. */
export function toDefinition(values: BucketValues): DefinitionInput {
  const keyed = isKeyed(values.partition);
  return {
    description: values.description.trim(),
    labels: Object.fromEntries(values.labels.map(splitLabel)),
    apps: values.apps.includes(allApps) ? [allApps] : [...values.apps].sort(),
    owners: [...values.owners].sort(),
    algorithm: values.algorithm as DefinitionInput['algorithm'],
    max_permits: Number(values.max_permits),
    rate: limitKind(values.algorithm) === 'rate' ? Number(values.rate) : 0,
    period_ms: joinPeriod(Number(values.period), values.periodUnit),
    partition: values.partition as DefinitionInput['partition'],
    shards: keyed ? Number(values.shards) : 1,
    mode: values.mode as DefinitionInput['mode'],
    max_wait_ms: Math.round(Number(values.maxWait) * 1000),
    on_redis_failure: values.on_redis_failure as DefinitionInput['on_redis_failure'],
    after_loss: (values.after_loss || (keyed ? 'full' : 'refill')) as DefinitionInput['after_loss'],
  };
}

/** "team=payments" -> ["team", "payments"]; the value may hold further equals signs. */
export function splitLabel(label: string): [string, string] {
  const at = label.indexOf('=');
  return at < 0 ? [label, ''] : [label.slice(0, at).trim(), label.slice(at + 1).trim()];
}
