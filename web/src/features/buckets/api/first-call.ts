import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';

const askAgain = 3_000; // ms

/** Whether a bucket was called in the days that are kept; asks again until it was. */
export function useCalled(name: string) {
  return useQuery({
    queryKey: ['buckets', 'called', name],
    queryFn: async ({ signal }) => {
      const params = { path: { name }, query: { range: '90d' as const } };
      const { items } = await unwrap(api.GET('/api/v1/buckets/{name}/usage', { params, signal }));
      return items.length > 0;
    },
    refetchInterval: (query) => (query.state.data === true ? false : askAgain),
  });
}
