import { useDocumentVisibility } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import type { StreamRates } from '@/lib/api/stream';
import type { Sample } from './series';

export interface LiveState<Now> {
  /** What was told last; null until something came since the watching began: what stood before is old. */
  now: Now | null;
  /** The newest of the samples, as fresh as `now`. */
  last: Sample | null;
  /** The last five minutes, oldest first. */
  samples: Sample[];
  failed: boolean;
}

/** What one second of a stream told. */
export interface LiveSecond<Now> {
  now: Now;
  /** Null when Redis did not answer. */
  redisTimeUs: number | null;
  /** Null where there was no sample before. */
  rates: StreamRates | null;
}

/** Follows something until the returned function is called; `broken` says that nothing comes at the moment. */
export type Follow<Now> = (take: (second: LiveSecond<Now>) => void, broken: () => void) => () => void;

const kept = 300; // samples

/** Keeps what a stream tells while the page is visible and `paused` is false. `follow` must stay the same between renders. */
export function useLiveSamples<Now>(follow: Follow<Now>, limit: number | null, paused: boolean): LiveState<Now> {
  const watching = useDocumentVisibility() === 'visible' && !paused;
  const [watched, setWatched] = useState(watching);
  const [state, setState] = useState<LiveState<Now>>({ now: null, last: null, samples: [], failed: false });
  if (watching !== watched) {
    setWatched(watching);
    if (watching) setState((before) => ({ ...before, now: null, last: null }));
  }

  useEffect(() => {
    if (!watching) return;
    return follow(
      (second) => setState((before) => append(before, second, limit)),
      () => setState((before) => ({ ...before, failed: true })),
    );
  }, [follow, limit, watching]);

  return state;
}

function append<Now>(before: LiveState<Now>, { now, redisTimeUs, rates }: LiveSecond<Now>, limit: number | null): LiveState<Now> {
  if (redisTimeUs === null) return { ...before, failed: true };
  if (rates === null) return { ...before, now, failed: false };
  const { granted, limited, shadow_limited } = rates;
  const sample = { at: redisTimeUs / 1_000_000, granted, limited: limited + shadow_limited, limit: limit ?? NaN };
  return { now, last: sample, failed: false, samples: [...before.samples, sample].slice(-kept) };
}
