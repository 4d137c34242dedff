import { useMutation, useQueryClient } from '@tanstack/react-query';
import { afterWrite } from '@/lib/api/after-write';
import { api, unwrap } from '@/lib/api/client';

export interface Trial {
  app: string;
  key?: string;
  permits: number;
  reason: string;
}

/** Acquires once, for real. */
export function useTry(name: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: Trial) => unwrap(api.POST('/api/v1/buckets/{name}/try', { params: { path: { name } }, body })),
    onSettled: afterWrite(() => queryClient.invalidateQueries({ queryKey: ['buckets', 'changes', name] })),
  });
}
