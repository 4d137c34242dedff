import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { openAppStream, type StreamAppSample } from '@/lib/api/stream';
import { useLiveSamples, type Follow, type LiveState } from '@/components/chart/use-live-samples';

/** Follows an app second by second while the page is visible and `paused` is false. */
export function useLiveApp(name: string, paused: boolean): LiveState<StreamAppSample> {
  const queryClient = useQueryClient();
  const follow = useCallback<Follow<StreamAppSample>>(
    (take, broken) =>
      openAppStream(name, {
        onSample: (now) => take({ now, redisTimeUs: now.redis ? now.redis_time_us : null, rates: now.rates }),
        onGone: () => void queryClient.invalidateQueries({ queryKey: ['apps', 'one', name] }),
        onBroken: broken,
      }),
    [name, queryClient],
  );
  return useLiveSamples(follow, null, paused);
}
