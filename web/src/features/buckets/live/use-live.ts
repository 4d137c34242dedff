import { useDocumentVisibility } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import type { Live } from '@/lib/api/types';
import { fetchLive } from '@/features/buckets/api/live';
import { delayToNext, ratesBetween, type Rates, type Reading } from './rates';

/** One point of the chart. */
export interface Sample extends Rates {
  /** Permits per second that the definition adds; null when that says nothing about the sum of all. */
  limit: number | null;
}

export interface LiveState {
  /** The newest answer; null before the first one. */
  now: Live | null;
  /** The last two minutes, oldest first. */
  samples: Sample[];
  failed: boolean;
}

const kept = 120; // samples
const retryAfter = 2_000; // ms

/** Follows a bucket once a second while the page is visible and `paused` is false. */
export function useLive(name: string, limit: number | null, paused: boolean): LiveState {
  const visible = useDocumentVisibility() === 'visible';
  const [state, setState] = useState<LiveState>({ now: null, samples: [], failed: false });

  useEffect(() => {
    if (!visible || paused) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    let previous: Reading | null = null;

    async function read() {
      const sentAt = performance.now();
      try {
        const live = await fetchLive(name, abort.signal);
        const rates = previous && ratesBetween(previous, { ...live, usage: live.usage ?? [] });
        previous = { ...live, usage: live.usage ?? [] };
        setState((before) => ({
          now: live,
          failed: false,
          samples: rates ? [...before.samples, { ...rates, limit }].slice(-kept) : before.samples,
        }));
        // Redis told its time about half a round trip ago.
        const age = (performance.now() - sentAt) / 2;
        timer = setTimeout(read, delayToNext(live.redis_time_us + age * 1000));
      } catch {
        if (abort.signal.aborted) return;
        setState((before) => ({ ...before, failed: true }));
        timer = setTimeout(read, retryAfter);
      }
    }

    void read();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [name, limit, paused, visible]);

  return state;
}
