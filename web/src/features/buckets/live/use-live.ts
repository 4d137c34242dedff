import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { openStream, type StreamBucket } from '@/lib/api/stream';
import { bucketKeys } from '@/features/buckets/api/keys';
import { useLiveSamples, type Follow, type LiveState } from '@/components/chart/use-live-samples';

/** Follows a bucket second by second while the page is visible and `paused` is false. */
export function useLive(name: string, limit: number | null, paused: boolean): LiveState<StreamBucket> {
  const queryClient = useQueryClient();
  const follow = useCallback<Follow<StreamBucket>>(
    (take, broken) => {
      const askAgain = () => {
        void queryClient.invalidateQueries({ queryKey: bucketKeys.one(name) });
        void queryClient.invalidateQueries({ queryKey: bucketKeys.changes(name) });
      };
      return openStream([name], {
        onSample: (sample) => {
          const now = sample.buckets[0];
          if (now) take({ now, redisTimeUs: sample.redis ? sample.redis_time_us : null, rates: now.rates });
        },
        onChanged: askAgain,
        onGone: askAgain,
        onBroken: broken,
      });
    },
    [name, queryClient],
  );
  return useLiveSamples(follow, limit, paused);
}
