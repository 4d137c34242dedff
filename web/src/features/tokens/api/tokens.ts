import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { afterWrite } from '@/lib/api/after-write';
import { api, unwrap } from '@/lib/api/client';
import type { Token, TokenScope } from '@/lib/api/types';

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

/**
 * One token, with what the list has of it until the server has told; null: none. A change of tokens does not ask for it
 * anew: the form that revokes it would be gone before it could say that it has.
 */
export function useToken(id: string | null, listed: Token | undefined) {
  return useQuery({
    queryKey: ['token', id],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/tokens/{id}', { params: { path: { id: idOf(id) } }, signal })),
    enabled: id !== null,
    gcTime: 0, // and anew each time that it is asked for
    placeholderData: listed,
  });
}

/** What is no id stands for a token that is not there. */
const idOf = (id: string | null) => (id !== null && /^\d{1,15}$/.test(id) ? Number(id) : 0);

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
    onSettled: afterWrite(useTokensChanged()),
  });
}
