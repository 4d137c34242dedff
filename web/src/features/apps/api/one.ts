import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { afterWrite } from '@/lib/api/after-write';
import { api, ifMatch, unwrap } from '@/lib/api/client';
import type { App, Member } from '@/lib/api/types';

const refreshEvery = 10_000; // ms

export function useApp(name: string) {
  return useQuery({
    queryKey: ['apps', 'one', name],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/apps/{name}', { params: { path: { name } }, signal })),
    refetchInterval: refreshEvery,
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
    onSettled: afterWrite(useAppsChanged()),
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

/** Shows the members of an app as they will be; returns the way back. */
function useMembersAhead(name: string) {
  const queryClient = useQueryClient();
  const queryKey = ['apps', 'one', name];
  return async (change: (members: Member[]) => Member[]) => {
    await queryClient.cancelQueries({ queryKey });
    const before = queryClient.getQueryData<App>(queryKey);
    if (before) queryClient.setQueryData<App>(queryKey, { ...before, members: change(before.members) });
    return () => queryClient.setQueryData(queryKey, before);
  };
}

export function useSetMember(app: string) {
  const ahead = useMembersAhead(app);
  return useMutation({
    mutationFn: ({ user, role }: Member) =>
      unwrap(api.PUT('/api/v1/apps/{name}/members/{user}', { params: { path: { name: app, user } }, body: { role } })),
    onMutate: (member) =>
      ahead((members) =>
        members.some(({ user }) => user === member.user)
          ? members.map((one) => (one.user === member.user ? member : one))
          : [...members, member],
      ),
    onError: (_error, _member, back) => back?.(),
    onSettled: afterWrite(useAppsChanged()),
  });
}

export function useRemoveMember(app: string) {
  const ahead = useMembersAhead(app);
  return useMutation({
    mutationFn: (user: string) =>
      unwrap(api.DELETE('/api/v1/apps/{name}/members/{user}', { params: { path: { name: app, user } } })),
    onMutate: (user) => ahead((members) => members.filter((member) => member.user !== user)),
    onError: (_error, _user, back) => back?.(),
    onSettled: afterWrite(useAppsChanged()),
  });
}
