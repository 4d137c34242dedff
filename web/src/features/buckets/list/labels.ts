import type { Bucket } from '@/lib/api/types';

/** A bucket's labels as "key=value", by key. */
export function labelTexts(bucket: Pick<Bucket, 'labels'>): string[] {
  return Object.entries(bucket.labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort();
}
