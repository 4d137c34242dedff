import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import { joinUsage, missingMinutes, type KnownUsage } from './known-usage';

export type UsageRange = '5m' | '1h' | '24h' | '90d';

const refreshEvery: Record<UsageRange, number> = { '5m': 5_000, '1h': 15_000, '24h': 60_000, '90d': 300_000 }; // ms

const minutesOf: Partial<Record<UsageRange, number>> = { '1h': 60, '24h': 24 * 60 }; // of the ranges that are worth asking for in part

/** What a bucket's apps were granted and refused over a range. Of what is known already, only the newest minutes are asked for. */
export function useUsage(name: string, range: UsageRange, paused: boolean) {
  return useQuery({
    queryKey: ['buckets', 'usage', name, range],
    queryFn: async ({ client, queryKey, signal }): Promise<KnownUsage> => {
      const ask = (query: { range: UsageRange } | { minutes: number }) =>
        unwrap(api.GET('/api/v1/buckets/{name}/usage', { params: { path: { name }, query }, signal }));
      const state = client.getQueryState<KnownUsage>(queryKey);
      const [known, knownAt, length, now] = [state?.data, state?.dataUpdatedAt ?? 0, minutesOf[range] ?? 0, Date.now()];
      const minutes = missingMinutes(known, knownAt, length, now);
      const joined = known && minutes !== null && joinUsage(known, await ask({ minutes }), minutes, length);
      return joined || { ...(await ask({ range })), wholeAt: now };
    },
    refetchInterval: paused ? false : refreshEvery[range],
    placeholderData: keepPreviousData,
    structuralSharing: false, // time moves on, so that each answer differs everywhere; comparing thousands of rows is waste
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
