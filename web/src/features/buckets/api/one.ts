import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import type { Bucket } from '@/lib/api/types';
import { bucketKeys } from './keys';

/** One bucket. `refetchEvery` says in how many ms to ask again while it is on the screen. */
export function useBucket(name: string, refetchEvery: (latest: Bucket | undefined) => number) {
  return useQuery({
    queryKey: bucketKeys.one(name),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/buckets/{name}', { params: { path: { name } }, signal })),
    refetchInterval: (query) => refetchEvery(query.state.data),
  });
}
