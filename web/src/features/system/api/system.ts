import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { afterWrite } from '@/lib/api/after-write';
import { api, unwrap } from '@/lib/api/client';

const refreshEvery = 5_000; // ms; not while the tab is hidden

/** The state of the parts that Headgate stands on. */
export function useSystem() {
  return useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/system', { signal })),
    refetchInterval: refreshEvery,
  });
}

/** How Redis stands to the database, all in all. */
export function useSystemSync() {
  return useQuery({
    queryKey: ['system', 'sync'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/system/sync', { signal })),
    refetchInterval: refreshEvery,
  });
}

/** The live SDK instances that match. */
export function useSystemInstances(search: string, behind: boolean) {
  return useQuery({
    queryKey: ['system', 'instances', search, behind],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/api/v1/system/instances', {
          params: { query: { ...(search ? { search } : {}), ...(behind ? { behind } : {}) } },
          signal,
        }),
      ),
    refetchInterval: refreshEvery,
    placeholderData: keepPreviousData,
  });
}

/** Has everything in Redis compared with the database now; the answer tells how that ended. */
export function useReconcile() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (reason: string) => unwrap(api.POST('/api/v1/system/reconcile', { body: { reason } })),
    onSuccess: (sync) => queryClient.setQueryData(['system', 'sync'], sync),
    onSettled: afterWrite(() => queryClient.invalidateQueries({ queryKey: ['system'] })),
  });
}
