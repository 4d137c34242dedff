import type { Bucket, Definition } from '@/lib/api/types';

/** The fields of a definition, in the order in which people read them. */
export const definitionFields = [
  'description',
  'algorithm',
  'max_permits',
  'rate',
  'period_ms',
  'partition',
  'shards',
  'apps',
  'owners',
  'mode',
  'max_wait_ms',
  'on_redis_failure',
  'after_loss',
  'labels',
] as const satisfies readonly (keyof Definition)[];

export type DefinitionField = (typeof definitionFields)[number];

/** The definition without what the system keeps beside it. */
export function definitionOf(bucket: Bucket | Definition): Definition {
  return Object.fromEntries(definitionFields.map((field) => [field, bucket[field]])) as unknown as Definition;
}

/** The entry of apps that stands for every registered app. */
export const allApps = '*';

export function isKeyed(partition: string): boolean {
  return partition === 'key' || partition === 'app_key';
}

export const algorithms = ['token_bucket', 'fixed_window', 'sliding_window', 'sliding_log', 'concurrency'] as const;

/** What max_permits and the period stand for; also the context under which the translations name them. */
export type LimitKind = 'rate' | 'window' | 'slots';

export function limitKind(algorithm: string): LimitKind {
  if (algorithm === 'concurrency') return 'slots';
  return algorithm === 'token_bucket' ? 'rate' : 'window';
}

/** Whether a field says something about a bucket that counts like this. */
export function isShown(field: DefinitionField, { algorithm, partition }: Pick<Definition, 'algorithm' | 'partition'>): boolean {
  if (field === 'rate') return limitKind(algorithm) === 'rate';
  return field !== 'shards' || isKeyed(partition);
}

export const partitions = ['shared', 'app', 'key', 'app_key'] as const;
export const modes = ['enforce', 'shadow', 'off'] as const;
export const failurePolicies = ['open', 'closed', 'local'] as const;
export const lossPolicies = ['refill', 'full'] as const;
