import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import type { AppRange } from '@/features/apps/range';

const refreshEvery: Record<AppRange, number> = { '5m': 5_000, '1h': 15_000, '24h': 60_000, '90d': 300_000 }; // ms

/** What an app was granted and refused over a range, in all buckets that one may see. */
export function useAppUsage(name: string, range: AppRange) {
  return useQuery({
    queryKey: ['apps', 'usage', name, range],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/apps/{name}/usage', { params: { path: { name }, query: { range } }, signal })),
    refetchInterval: refreshEvery[range],
    placeholderData: keepPreviousData,
  });
}
