import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import type { Bucket, BulkChange } from '@/lib/api/types';
import { bucketKeys } from './keys';
import type { BucketListQuery } from './list';

/** The most buckets of one bulk edit, as the server has it. */
export const bulkMost = 500;

export interface BulkRequest {
  /** As they were seen: their revisions are what the change is based on. */
  buckets: readonly Bucket[];
  change: BulkChange;
}

/** A bulk edit as the server takes it. */
export function bulkBody({ buckets, change }: BulkRequest) {
  return { buckets: buckets.map(({ name, revision }) => ({ name, revision })), change };
}

/** What a bulk edit would change. */
export function useBulkPreview() {
  return useMutation({
    mutationFn: (request: BulkRequest) =>
      unwrap(api.POST('/api/v1/buckets/bulk', { body: { ...bulkBody(request), dry_run: true } })),
  });
}

export function useBulkEdit() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ reason, ...request }: BulkRequest & { reason: string }) =>
      unwrap(api.POST('/api/v1/buckets/bulk', { body: { ...bulkBody(request), reason } })),
    onSuccess: (done) => {
      void queryClient.invalidateQueries({ queryKey: ['buckets', 'list'] });
      void queryClient.invalidateQueries({ queryKey: ['buckets', 'labels'] });
      for (const { name } of done.changed) {
        void queryClient.invalidateQueries({ queryKey: bucketKeys.one(name) });
        void queryClient.invalidateQueries({ queryKey: bucketKeys.changes(name) });
      }
    },
  });
}

const pageSize = 200; // the server's most

export interface Matching {
  buckets: Bucket[];
  /** There are more than one bulk edit takes. */
  more: boolean;
}

/** Reads the buckets that match a query and may be edited, in its order, as many as one bulk edit takes. */
export function useAllMatching() {
  return useMutation({
    mutationFn: async (query: BucketListQuery): Promise<Matching> => {
      const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
      const buckets: Bucket[] = [];
      let cursor = '';
      do {
        const page = await unwrap(
          api.GET('/api/v1/buckets', { params: { query: { ...given, cursor, limit: pageSize } } }),
        );
        buckets.push(...(page.items ?? []).filter((bucket) => bucket.may.edit));
        cursor = page.next;
      } while (cursor !== '' && buckets.length <= bulkMost);
      return { buckets: buckets.slice(0, bulkMost), more: buckets.length > bulkMost };
    },
  });
}
