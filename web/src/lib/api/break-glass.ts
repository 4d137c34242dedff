import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { afterWrite } from './after-write';
import { api, unwrap } from './client';
import type { BreakGlass } from './types';

const refreshEvery = 5_000; // ms

/** Every break-glass in force, the oldest first. */
export function useBreakGlass() {
  return useQuery({
    queryKey: ['break-glass'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/break-glass', { signal })),
    refetchInterval: refreshEvery,
    select: (answer) => answer.items,
  });
}

/** Whether break-glass covers the calls of all these apps now, so that what is refused is let pass. */
export function useCovered(apps: readonly string[]): boolean {
  const { data = [] } = useBreakGlass();
  const covers = (app: string) => data.some((one) => one.scope === 'app' && one.app === app);
  return data.some((one) => one.scope === 'all') || (apps.length > 0 && apps.every(covers));
}

function useChanged() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['break-glass'] });
}

export function useStartBreakGlass() {
  return useMutation({
    mutationFn: (body: { scope: BreakGlass['scope']; app?: string; reason: string; confirm: string }) =>
      unwrap(api.POST('/api/v1/break-glass', { body })),
    onSettled: afterWrite(useChanged()),
  });
}

export function useEndBreakGlass() {
  return useMutation({
    mutationFn: ({ id, reason }: { id: number; reason: string }) =>
      unwrap(api.DELETE('/api/v1/break-glass/{id}', { params: { path: { id }, query: { reason } } })),
    onSettled: afterWrite(useChanged()),
  });
}
