import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import type { DefinitionInput } from '@/lib/api/types';
import { bucketKeys } from './keys';

export function useCreateBucket() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: DefinitionInput & { name: string; reason: string }) =>
      unwrap(api.POST('/api/v1/buckets', { body })),
    onSuccess: (bucket) => {
      queryClient.setQueryData(bucketKeys.one(bucket.name), bucket);
      void queryClient.invalidateQueries({ queryKey: ['buckets', 'list'] });
    },
  });
}
