import { useDocumentVisibility } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { openStream, type StreamBucket } from '@/lib/api/stream';
import { bucketKeys } from '@/features/buckets/api/keys';
import type { Sample } from '@/components/chart/series';

export interface LiveState {
  /** The newest sample; null before the first one. */
  now: StreamBucket | null;
  /** The last five minutes, oldest first. */
  samples: Sample[];
  failed: boolean;
}

const kept = 300; // samples
const nothing: LiveState = { now: null, samples: [], failed: false };

/** Follows a bucket second by second while the page is visible and `paused` is false. */
export function useLive(name: string, limit: number | null, paused: boolean): LiveState {
  const visible = useDocumentVisibility() === 'visible';
  const queryClient = useQueryClient();
  const [state, setState] = useState<LiveState>(nothing);

  useEffect(() => {
    if (!visible || paused) return;
    const askAgain = () => {
      void queryClient.invalidateQueries({ queryKey: bucketKeys.one(name) });
      void queryClient.invalidateQueries({ queryKey: bucketKeys.changes(name) });
    };
    return openStream([name], {
      onSample: (sample) => {
        const now = sample.buckets[0];
        if (now) setState((before) => append(before, now, sample.redis ? sample.redis_time_us : null, limit));
      },
      onChanged: askAgain,
      onGone: askAgain,
      onBroken: () => setState((before) => ({ ...before, failed: true })),
    });
  }, [name, limit, paused, visible, queryClient]);

  return state;
}

function append(before: LiveState, now: StreamBucket, redisTimeUs: number | null, limit: number | null): LiveState {
  if (redisTimeUs === null) return { ...before, failed: true };
  if (now.rates === null) return { ...before, now, failed: false };
  const { granted, limited, shadow_limited } = now.rates;
  const sample = { at: redisTimeUs / 1_000_000, granted, limited, shadowLimited: shadow_limited, limit };
  return { now, failed: false, samples: [...before.samples, sample].slice(-kept) };
}
