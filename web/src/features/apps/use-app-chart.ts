import { useEffect, useMemo } from 'react';
import { joined, samplesOf } from '@/components/chart/series';
import { useRangeView } from '@/components/chart/use-range-view';
import { useWholeMinutes } from '@/components/chart/use-whole-minutes';
import { useAppUsage } from './api/usage';
import { useLiveApp } from './use-live-app';

const noLimit = () => null; // an app's buckets have limits of their own

/** All that the chart of an app shows. */
export function useAppChart(name: string) {
  const view = useRangeView();
  const { range, seconds, paused, setEnd } = view;
  const live = useLiveApp(name, paused);
  const usage = useAppUsage(name, range, paused);
  const past = useMemo(() => samplesOf(usage.data, usage.dataUpdatedAt, seconds, noLimit), [seconds, usage.data, usage.dataUpdatedAt]);
  const minutes = useWholeMinutes(past);
  const samples = useMemo(() => (range === 'live' ? joined(minutes, live.samples) : past), [range, past, minutes, live.samples]);
  const end = samples.at.at(-1) ?? usage.dataUpdatedAt / 1000;
  useEffect(() => setEnd(end), [end, setEnd]);
  return { ...view, samples, live, usage };
}
