import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, ifMatch, unwrap } from '@/lib/api/client';

export function useDeleteBucket(name: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ base, reason }: { base: number; reason: string }) =>
      unwrap(
        api.DELETE('/api/v1/buckets/{name}', {
          params: { path: { name }, query: { reason }, header: ifMatch(base) },
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['buckets', 'list'] }),
  });
}
