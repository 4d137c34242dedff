import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { afterWrite } from '@/lib/api/after-write';
import { api, refusalOf, unwrap } from '@/lib/api/client';

/** Changes one's own display name, based on the revision that the server has now: nobody else edits it at the same time. */
export function useSaveName() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (display_name: string) => {
      const { response, error } = await api.GET('/api/v1/auth/me');
      if (!response.ok) throw await refusalOf(error, response.status);
      const header = { 'If-Match': response.headers.get('ETag') ?? '' };
      return unwrap(api.PUT('/api/v1/auth/me', { params: { header }, body: { display_name } }));
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['me'] }),
  });
}

/** Changes one's own password; the server ends the other sessions. */
export function useChangePassword() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: { current: string; password: string }) => unwrap(api.POST('/api/v1/auth/password', { body })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['sessions'] }),
  });
}

export function useSessions() {
  return useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/auth/sessions', { signal })),
    select: (answer) => answer.items ?? [],
  });
}

export function useEndSession() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => unwrap(api.DELETE('/api/v1/auth/sessions/{id}', { params: { path: { id } } })),
    onSettled: afterWrite(() => queryClient.invalidateQueries({ queryKey: ['sessions'] })),
  });
}

export function useEndOtherSessions() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.DELETE('/api/v1/auth/sessions')),
    onSettled: afterWrite(() => queryClient.invalidateQueries({ queryKey: ['sessions'] })),
  });
}
