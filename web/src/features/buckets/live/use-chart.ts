import { useEffect, useMemo } from 'react';
import type { Bucket } from '@/lib/api/types';
import { useBucketChanges } from '@/features/buckets/api/changes';
import { useUsage } from '@/features/buckets/api/usage';
import { joined, limitHistory, lineOf, samplesOf, type Revised } from '@/components/chart/series';
import { useRangeView } from '@/components/chart/use-range-view';
import { useWholeMinutes } from '@/components/chart/use-whole-minutes';
import { useLive } from './use-live';

const definitionChanges = /^bucket\.(create|update|rollback|restore|raise)$/;

/** All that the chart of a bucket shows, in parts that change at different times. */
export function useChart(bucket: Bucket) {
  const view = useRangeView();
  const { range, seconds, paused, setEnd } = view;

  const live = useLive(bucket.name, lineOf(bucket), paused);
  const { data, dataUpdatedAt, error } = useUsage(bucket.name, range === 'live' ? '5m' : range, paused);
  const changes = useBucketChanges(bucket.name);
  const known = useMemo(
    () => (changes.data?.pages.flatMap((page) => page.items ?? []) ?? []).filter((change) => definitionChanges.test(change.action)),
    [changes.data],
  );
  const limitAt = useMemo(() => limitHistory(bucket, known), [bucket, known]);
  const past = useMemo(() => samplesOf(data, dataUpdatedAt, seconds, limitAt), [data, dataUpdatedAt, seconds, limitAt]);
  const minutes = useWholeMinutes(past);
  const samples = useMemo(() => (range === 'live' ? joined(minutes, live.samples) : past), [range, past, minutes, live.samples]);

  const end = samples.at.at(-1) ?? dataUpdatedAt / 1000;
  useEffect(() => setEnd(end), [end, setEnd]);
  const revised = useMemo((): Revised[] => known.map(({ at, revision }) => ({ at: Date.parse(at) / 1000, revision })), [known]);
  const since = revised.filter(({ at }) => at >= end - seconds).length;
  const changed = useMemo(() => known.slice(0, since), [known, since]); // newest first

  const rows = data?.items;
  const used = useMemo(() => ({ rows, range, error }), [rows, range, error]);
  const drawn = useMemo(() => ({ samples, revised }), [samples, revised]);
  return { view, live, used, drawn, changed };
}
