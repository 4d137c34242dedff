import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import type { Range } from '@/components/chart/series';

const refreshEvery: Record<Range, number> = { live: 5_000, '1h': 15_000, '24h': 60_000, '90d': 300_000 }; // ms

/** What an app was granted and refused over a range, in all buckets that one may see. */
export function useAppUsage(name: string, range: Range, paused: boolean) {
  return useQuery({
    queryKey: ['apps', 'usage', name, range],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/api/v1/apps/{name}/usage', {
          params: { path: { name }, query: { range: range === 'live' ? '5m' : range } },
          signal,
        }),
      ),
    refetchInterval: paused ? false : refreshEvery[range],
    placeholderData: keepPreviousData,
  });
}
