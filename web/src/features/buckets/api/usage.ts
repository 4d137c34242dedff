import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';

export type UsageRange = '5m' | '1h' | '24h' | '90d';

const refreshEvery: Record<UsageRange, number> = { '5m': 5_000, '1h': 15_000, '24h': 60_000, '90d': 300_000 }; // ms

/** What a bucket's apps were granted and refused over a range. */
export function useUsage(name: string, range: UsageRange, paused: boolean) {
  return useQuery({
    queryKey: ['buckets', 'usage', name, range],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/buckets/{name}/usage', { params: { path: { name }, query: { range } }, signal })),
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
