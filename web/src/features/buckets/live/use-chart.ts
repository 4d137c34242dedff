import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import type { Bucket } from '@/lib/api/types';
import { useUrlSet } from '@/lib/url-state';
import { useBucketChanges } from '@/features/buckets/api/changes';
import { useUsage } from '@/features/buckets/api/usage';
import type { Marker, Span } from '@/components/chart/chart-options';
import { joined, limitHistory, lineOf, ranges, rangeSeconds, toSamples, type Range, type Sample } from '@/components/chart/series';
import { useLive } from './use-live';

const definitionChanges = /^bucket\.(create|update|rollback|restore|raise)$/;

/** All that the chart of a bucket shows. The range is in the URL; the zoom is a look at what is drawn, and is not. */
export function useChart(bucket: Bucket) {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const set = useUrlSet();
  const [paused, setPaused] = useState(false);
  const [zoom, setZoom] = useState<Span | null>(null);
  const range = ranges.find((one) => one === params.get('range')) ?? 'live';
  const seconds = rangeSeconds[range];

  const live = useLive(bucket.name, lineOf(bucket), paused);
  const usage = useUsage(bucket.name, range === 'live' ? '5m' : range, paused);
  const changes = useBucketChanges(bucket.name);
  const known = useMemo(
    () => (changes.data?.pages.flatMap((page) => page.items ?? []) ?? []).filter((change) => definitionChanges.test(change.action)),
    [changes.data],
  );
  const past = useMemo((): Sample[] => {
    if (!usage.data) return [];
    const now = (usage.data.redis_time_us || usage.dataUpdatedAt * 1000) / 1_000_000;
    return toSamples(usage.data.items ?? [], usage.data.step_minutes, now, seconds, limitHistory(bucket, known));
  }, [bucket, known, seconds, usage.data, usage.dataUpdatedAt]);
  const samples = useMemo(() => (range === 'live' ? joined(past, live.samples) : past), [range, past, live.samples]);

  const end = samples.at(-1)?.at ?? usage.dataUpdatedAt / 1000;
  const latestEnd = useRef(end);
  useEffect(() => {
    latestEnd.current = end;
  }, [end]);
  const markers = useMemo(
    (): Marker[] => known.map((change) => ({ at: Date.parse(change.at) / 1000, label: t('live.marker', { revision: change.revision }) })),
    [known, t],
  );
  const since = known.filter((change) => Date.parse(change.at) / 1000 >= end - seconds).length;
  const changed = useMemo(() => known.slice(0, since), [known, since]); // newest first

  const setRange = useCallback(
    (next: Range) => {
      setZoom(null);
      set({ range: next === 'live' ? '' : next });
    },
    [set],
  );
  const pause = useCallback(
    (next: boolean) => {
      setPaused(next);
      if (!next && range === 'live') setZoom(null);
    },
    [range],
  );
  const look = useCallback(
    (span: Span | null) => {
      const wider = span !== null && span[1] - span[0] >= seconds;
      setZoom(wider ? null : span);
      // A look at a part of what runs on would run away.
      if (range === 'live' && span !== null) setPaused(true);
    },
    [range, seconds],
  );
  const zoomBy = useCallback(
    (factor: number) => {
      const [from, to] = zoom ?? [latestEnd.current - seconds, latestEnd.current];
      const less = ((to - from) * (1 - 1 / factor)) / 2;
      look([from + less, to - less]);
    },
    [zoom, look, seconds],
  );

  // The functions stay the same from sample to sample, so that the controls need not be drawn again.
  return {
    range,
    seconds,
    samples,
    live,
    usage,
    markers,
    changed,
    paused,
    zoom,
    setRange,
    setPaused: pause,
    setZoom: look,
    zoomBy,
  };
}
