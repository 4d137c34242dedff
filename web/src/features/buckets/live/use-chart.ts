import { useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { useBucketChanges } from '@/features/buckets/api/changes';
import { useUsage } from '@/features/buckets/api/usage';
import type { Marker } from '@/components/chart/chart-options';
import { joined, limitHistory, lineOf, samplesOf } from '@/components/chart/series';
import { useRangeView } from '@/components/chart/use-range-view';
import { useLive } from './use-live';

const definitionChanges = /^bucket\.(create|update|rollback|restore|raise)$/;

/** All that the chart of a bucket shows. */
export function useChart(bucket: Bucket) {
  const { t } = useTranslation();
  const view = useRangeView();
  const { range, seconds, paused, setEnd } = view;

  const live = useLive(bucket.name, lineOf(bucket), paused);
  const usage = useUsage(bucket.name, range === 'live' ? '5m' : range, paused);
  const changes = useBucketChanges(bucket.name);
  const known = useMemo(
    () => (changes.data?.pages.flatMap((page) => page.items ?? []) ?? []).filter((change) => definitionChanges.test(change.action)),
    [changes.data],
  );
  const past = useMemo(
    () => samplesOf(usage.data, usage.dataUpdatedAt, seconds, limitHistory(bucket, known)),
    [bucket, known, seconds, usage.data, usage.dataUpdatedAt],
  );
  const samples = useMemo(() => (range === 'live' ? joined(past, live.samples) : past), [range, past, live.samples]);

  const end = samples.at(-1)?.at ?? usage.dataUpdatedAt / 1000;
  useEffect(() => setEnd(end), [end, setEnd]);
  const markers = useMemo(
    (): Marker[] => known.map((change) => ({ at: Date.parse(change.at) / 1000, label: t('live.marker', { revision: change.revision }) })),
    [known, t],
  );
  const since = known.filter((change) => Date.parse(change.at) / 1000 >= end - seconds).length;
  const changed = useMemo(() => known.slice(0, since), [known, since]); // newest first

  return { ...view, samples, live, usage, markers, changed };
}
