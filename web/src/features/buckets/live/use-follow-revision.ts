import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Bucket } from '@/lib/api/types';
import { bucketKeys } from '@/features/buckets/api/keys';

/** Redis has a revision that the page does not show yet: ask for the bucket again. */
export function useFollowRevision(bucket: Bucket, inRedis: number | undefined) {
  const queryClient = useQueryClient();
  const behind = inRedis !== undefined && inRedis !== 0 && inRedis !== bucket.revision;
  const pending = bucket.sync.state === 'pending' && inRedis === bucket.revision;
  useEffect(() => {
    if (!behind && !pending) return;
    void queryClient.invalidateQueries({ queryKey: bucketKeys.one(bucket.name) });
    void queryClient.invalidateQueries({ queryKey: bucketKeys.changes(bucket.name) });
  }, [behind, pending, inRedis, bucket.name, queryClient]);
}
