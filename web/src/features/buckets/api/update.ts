import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, ifMatch, unwrap } from '@/lib/api/client';
import type { DefinitionInput } from '@/lib/api/types';
import { bucketKeys } from './keys';

export interface BucketUpdate {
  /** The revision that the edit was based on. */
  base: number;
  definition: DefinitionInput;
  reason: string;
}

export function useUpdateBucket(name: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ base, definition, reason }: BucketUpdate) =>
      unwrap(
        api.PUT('/api/v1/buckets/{name}', {
          params: { path: { name }, header: ifMatch(base) },
          body: { ...definition, reason },
        }),
      ),
    onSuccess: (bucket) => {
      queryClient.setQueryData(bucketKeys.one(name), bucket);
      void queryClient.invalidateQueries({ queryKey: ['buckets', 'list'] });
      void queryClient.invalidateQueries({ queryKey: bucketKeys.changes(name) });
    },
  });
}
