import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import type { components } from '@/lib/api/schema.gen';
import { bucketKeys } from './keys';
import { correctUsage, joinUsage, missingMinutes, olderMinutes, type OlderMinutes } from './known-usage';

type Usage = components['schemas']['BucketUsage'];

export type UsageRange = '5m' | '1h' | '24h' | '90d';

const refreshEvery: Record<UsageRange, number> = { '5m': 5_000, '1h': 15_000, '24h': 60_000, '90d': 300_000 }; // ms

const minutesOf: Partial<Record<UsageRange, number>> = { '1h': 60, '24h': 24 * 60 }; // of the ranges that are worth asking for in part

type Asked = { range: UsageRange } | { minutes: number; until?: number };

const ask = (name: string, query: Asked, signal: AbortSignal) =>
  unwrap(api.GET('/api/v1/buckets/{name}/usage', { params: { path: { name }, query }, signal }));

/** What a bucket's apps were granted and refused over a range. Of what is known already, only the newest minutes are asked for. */
export function useUsage(name: string, range: UsageRange, paused: boolean) {
  const length = minutesOf[range] ?? 0;
  useOlderUsage(name, range, length, paused);
  return useQuery({
    queryKey: bucketKeys.usage(name, range),
    queryFn: async ({ client, queryKey, signal }) => {
      const state = client.getQueryState<Usage>(queryKey);
      const minutes = missingMinutes(state?.data, state?.dataUpdatedAt ?? 0, length, Date.now());
      if (minutes === null) return ask(name, { range }, signal);
      const newest = await ask(name, { minutes }, signal);
      const known = client.getQueryData<Usage>(queryKey); // as it was corrected meanwhile
      return (known && joinUsage(known, newest, minutes, length)) ?? ask(name, { range }, signal);
    },
    refetchInterval: paused ? false : refreshEvery[range],
    placeholderData: keepPreviousData,
    structuralSharing: false, // time moves on, so that each answer differs everywhere; comparing thousands of rows is waste
  });
}

/**
 * Asks for a part of a range's older minutes again each time, between the questions for the newest ones, since an SDK that
 * was cut off reports late. The chart is drawn anew only where something was.
 */
function useOlderUsage(name: string, range: UsageRange, length: number, paused: boolean) {
  const every = refreshEvery[range];
  useQuery({
    queryKey: bucketKeys.olderUsage(name, range),
    queryFn: async ({ client, queryKey, signal }) => {
      const key = bucketKeys.usage(name, range);
      const before = client.getQueryData<OlderMinutes | null>(queryKey) ?? null;
      const known = client.getQueryData<Usage>(key);
      if (!known) return before;
      const asked = olderMinutes(known, length, before);
      const older = await ask(name, { ...asked }, signal);
      const state = client.getQueryState<Usage>(key);
      const corrected = state?.data && correctUsage(state.data, older, asked, length);
      if (corrected && corrected !== state.data) client.setQueryData(key, corrected, { updatedAt: state.dataUpdatedAt });
      return asked;
    },
    enabled: length > 0,
    gcTime: 0, // whoever comes again begins with half an interval again
    refetchInterval: ({ state }) => !paused && (state.dataUpdateCount > 1 ? every : every / 2),
    notifyOnChangeProps: [],
  });
}

/** The keys that were limited most. */
export function useLimitedKeys(name: string, minutes: number, enabled: boolean) {
  return useQuery({
    queryKey: ['buckets', 'limited-keys', name, minutes],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/buckets/{name}/limited-keys', { params: { path: { name }, query: { minutes } }, signal })),
    refetchInterval: 10_000,
    enabled,
    placeholderData: keepPreviousData,
  });
}

/** The live clients that use a bucket. */
export function useInstances(name: string) {
  return useQuery({
    queryKey: ['buckets', 'instances', name],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/buckets/{name}/instances', { params: { path: { name } }, signal })),
    refetchInterval: 5_000,
  });
}
