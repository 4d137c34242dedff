import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, ifMatch, unwrap } from '@/lib/api/client';
import type { AppRole, Member } from '@/lib/api/types';

export function useApp(name: string) {
  return useQuery({
    queryKey: ['apps', 'one', name],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/apps/{name}', { params: { path: { name } }, signal })),
  });
}

function useAppsChanged() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['apps'] });
}

export function useCreateApp() {
  return useMutation({
    mutationFn: (body: { name: string; description: string; members: Member[] }) =>
      unwrap(api.POST('/api/v1/apps', { body })),
    onSuccess: useAppsChanged(),
  });
}

export function useUpdateApp(name: string) {
  return useMutation({
    mutationFn: ({ base, description }: { base: number; description: string }) =>
      unwrap(
        api.PUT('/api/v1/apps/{name}', { params: { path: { name }, header: ifMatch(base) }, body: { description } }),
      ),
    onSettled: useAppsChanged(),
  });
}

export function useDeleteApp(name: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (base: number) =>
      unwrap(api.DELETE('/api/v1/apps/{name}', { params: { path: { name }, header: ifMatch(base) } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['apps', 'list'] }),
  });
}

export function useSetMember(app: string) {
  return useMutation({
    mutationFn: ({ user, role }: { user: string; role: AppRole }) =>
      unwrap(api.PUT('/api/v1/apps/{name}/members/{user}', { params: { path: { name: app, user } }, body: { role } })),
    onSuccess: useAppsChanged(),
  });
}

export function useRemoveMember(app: string) {
  return useMutation({
    mutationFn: (user: string) =>
      unwrap(api.DELETE('/api/v1/apps/{name}/members/{user}', { params: { path: { name: app, user } } })),
    onSuccess: useAppsChanged(),
  });
}
