import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
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

export const defaultSort = 'name';

/** What the address of the list asks for. */
export function bucketListQuery(params: URLSearchParams): BucketListQuery {
  const get = (name: string) => params.get(name) ?? '';
  return {
    search: get('search'),
    app: get('app'),
    owner: get('owner'),
    mode: get('mode'),
    label: get('label'),
    sync: get('sync'),
    sort: get('sort') || defaultSort,
    cursor: get('cursor'),
  };
}

const pageSize = 25;

/** One page of the list. */
export function bucketsQuery(query: BucketListQuery) {
  return queryOptions({
    queryKey: bucketKeys.list(query),
    queryFn: ({ signal }) => {
      const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
      return unwrap(api.GET('/api/v1/buckets', { params: { query: { ...given, limit: pageSize } }, signal }));
    },
  });
}

const refreshEvery = 15_000; // ms; not while the tab is hidden

/** One page of the list, kept fresh unless it is `held`: nothing moves under the hand of whoever picks rows. */
export function useBuckets(query: BucketListQuery, held: boolean) {
  return useQuery({ ...bucketsQuery(query), placeholderData: keepPreviousData, refetchInterval: held ? false : refreshEvery });
}
