import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, ifMatch, unwrap } from '@/lib/api/client';
import type { DeletedBucket } from '@/lib/api/types';
import { bucketKeys } from './keys';

/** What two revisions differ in, field by field, as the server sees it. */
export function useComparison(name: string, from: number, to: number) {
  return useQuery({
    queryKey: ['buckets', 'comparison', name, from, to],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/api/v1/buckets/{name}/revisions/{revision}/compare/{to}', {
          params: { path: { name, revision: from, to } },
          signal,
        }),
      ),
    enabled: from > 0 && to > 0,
    staleTime: Infinity, // a revision never changes
    retry: false,
  });
}

export interface RollBack {
  /** The revision that the decision was based on. */
  base: number;
  /** The one whose definition is to come back. */
  revision: number;
  reason: string;
}

export function useRollBack(name: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ base, revision, reason }: RollBack) =>
      unwrap(
        api.POST('/api/v1/buckets/{name}/rollback', {
          params: { path: { name }, header: ifMatch(base) },
          body: { revision, reason },
        }),
      ),
    onSuccess: (bucket) => {
      queryClient.setQueryData(bucketKeys.one(name), bucket);
      void queryClient.invalidateQueries({ queryKey: ['buckets', 'list'] });
      void queryClient.invalidateQueries({ queryKey: bucketKeys.changes(name) });
    },
  });
}

const pageSize = 30;

/** The deleted buckets that one may see. */
export function useDeletedBuckets(query: { search: string; cursor: string }) {
  return useQuery({
    queryKey: ['buckets', 'deleted', query],
    queryFn: ({ signal }) => {
      const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
      return unwrap(api.GET('/api/v1/deleted-buckets', { params: { query: { ...given, limit: pageSize } }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

/** One deleted bucket, with what the list has of it until the server has told; null: none. */
export function useDeletedBucket(name: string | null, listed: DeletedBucket | undefined) {
  return useQuery({
    queryKey: ['buckets', 'deleted', 'one', name],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/deleted-buckets/{name}', { params: { path: { name: name ?? '' } }, signal })),
    enabled: name !== null,
    placeholderData: listed,
  });
}

export function useRestoreBucket(name: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ reason }: { reason: string }) =>
      unwrap(api.POST('/api/v1/buckets/{name}/restore', { params: { path: { name } }, body: { reason } })),
    onSuccess: (bucket) => {
      queryClient.setQueryData(bucketKeys.one(name), bucket);
      void queryClient.invalidateQueries({ queryKey: ['buckets', 'list'] });
      void queryClient.invalidateQueries({ queryKey: ['buckets', 'deleted'] });
    },
  });
}
