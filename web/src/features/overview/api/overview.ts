import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import type { components } from '@/lib/api/schema.gen';

export type OverviewBucket = components['schemas']['OverviewBucket'];

const refreshEvery = 10_000; // ms; the server sums up as often

/** What is limited now, near its limit, and what changed. */
export function useOverview() {
  return useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/overview', { signal })),
    refetchInterval: refreshEvery,
  });
}
