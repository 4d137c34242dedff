import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';

const refreshEvery = 5_000; // ms

/** The state of the parts that Headgate stands on. */
export function useSystem() {
  return useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/system', { signal })),
    refetchInterval: refreshEvery,
  });
}
