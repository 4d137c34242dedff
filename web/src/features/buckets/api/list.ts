import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import { bucketKeys } from './keys';

/** What a list of buckets is narrowed and ordered by; "" stands for "any". */
export interface BucketListQuery {
  search: string;
  app: string;
  owner: string;
  mode: string;
  /** key=value, or a key for any value. */
  label: string;
  sync: string;
  sort: string;
  cursor: string;
}

const pageSize = 25;

export function useBuckets(query: BucketListQuery) {
  return useQuery({
    queryKey: bucketKeys.list(query),
    queryFn: ({ signal }) => {
      const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
      return unwrap(api.GET('/api/v1/buckets', { params: { query: { ...given, limit: pageSize } }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}
