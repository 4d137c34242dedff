import { useInfiniteQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import { bucketKeys } from './keys';

const pageSize = 20;

/** A bucket's revisions, newest first. */
export function useBucketChanges(name: string) {
  return useInfiniteQuery({
    queryKey: bucketKeys.changes(name),
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET('/api/v1/buckets/{name}/changes', {
          params: { path: { name }, query: { limit: pageSize, ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.next || undefined,
  });
}
