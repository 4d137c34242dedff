import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import type { Role } from '@/lib/api/types';

const most = 200;

/** The names of the service accounts; only for those who may manage tokens. */
export function useServiceAccounts(enabled: boolean) {
  return useQuery({
    queryKey: ['service-accounts'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/service-accounts', { params: { query: { limit: most } }, signal })),
    select: (list) => list.items.filter((account) => !account.disabled).map((account) => account.name),
    enabled,
  });
}

export function useCreateServiceAccount() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: { name: string; display_name: string; role: Role }) => unwrap(api.POST('/api/v1/service-accounts', { body })),
    onSuccess: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ['service-accounts'] }),
        queryClient.invalidateQueries({ queryKey: ['users'] }),
      ]),
  });
}
