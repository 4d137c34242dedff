import type { Bucket } from '@/lib/api/types';

/** A bucket's labels as "key=value", by key. */
export function labelTexts(bucket: Pick<Bucket, 'labels'>): string[] {
  return Object.entries(bucket.labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort();
}

/** The labels of some buckets, each once. */
export function labelsOf(buckets: Pick<Bucket, 'labels'>[]): string[] {
  return [...new Set(buckets.flatMap(labelTexts))].sort();
}
