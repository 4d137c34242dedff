import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';

const pageSize = 25;

/** All buckets that were in force at an instant; nothing is asked while `at` is "". */
export function useBucketsAsOf({ at, cursor, enabled }: { at: string; cursor: string; enabled: boolean }) {
  return useQuery({
    queryKey: ['as-of', 'all', at, cursor],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/as-of', { params: { query: { at, limit: pageSize, ...(cursor && { cursor }) } }, signal })),
    placeholderData: keepPreviousData,
    enabled: enabled && at !== '',
  });
}

/** One bucket at an instant, with those who could change and see it. */
export function useBucketAsOf({ name, at, enabled }: { name: string; at: string; enabled: boolean }) {
  return useQuery({
    queryKey: ['as-of', 'one', name, at],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/buckets/{name}/as-of', { params: { path: { name }, query: { at } }, signal })),
    enabled: enabled && at !== '' && name !== '',
  });
}
