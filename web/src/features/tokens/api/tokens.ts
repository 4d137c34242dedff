import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import type { TokenScope } from '@/lib/api/types';

const pageSize = 25;

export function useTokens(query: { all: boolean; cursor: string }) {
  return useQuery({
    queryKey: ['tokens', query],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/api/v1/tokens', {
          params: { query: { limit: pageSize, ...(query.all && { all: true }), ...(query.cursor && { cursor: query.cursor }) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

function useTokensChanged() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['tokens'] });
}

interface NewToken {
  name: string;
  scopes: TokenScope[];
  expires_in_days: number;
  /** Left out: a token of one's own. */
  service_account?: string;
}

export function useCreateToken() {
  return useMutation({
    mutationFn: (body: NewToken) => unwrap(api.POST('/api/v1/tokens', { body })),
    onSuccess: useTokensChanged(),
    gcTime: 0, // the answer holds the secret
  });
}

export function useRevokeToken() {
  return useMutation({
    mutationFn: ({ id, reason }: { id: number; reason: string }) =>
      unwrap(api.DELETE('/api/v1/tokens/{id}', { params: { path: { id }, query: reason ? { reason } : {} } })),
    onSettled: useTokensChanged(),
  });
}
