import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { afterWrite } from '@/lib/api/after-write';
import { api, ifMatch, unwrap } from '@/lib/api/client';
import type { Role, User } from '@/lib/api/types';

const pageSize = 25;

export interface UserListQuery {
  search: string;
  role: string;
  sort: string;
  cursor: string;
}

export function useUsers(query: UserListQuery) {
  return useQuery({
    queryKey: ['users', 'list', query],
    queryFn: ({ signal }) => {
      const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
      return unwrap(api.GET('/api/v1/users', { params: { query: { ...given, limit: pageSize } }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}

/** One user, with what the list has of it until the server has told; null: none. */
export function useUser(name: string | null, listed: User | undefined) {
  return useQuery({
    queryKey: ['users', 'one', name],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/users/{name}', { params: { path: { name: name ?? '' } }, signal })),
    enabled: name !== null,
    placeholderData: listed,
  });
}

function useUsersChanged() {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: ['users'] });
}

export function useCreateUser() {
  return useMutation({
    mutationFn: (body: { name: string; display_name: string; role: Role; password: string }) =>
      unwrap(api.POST('/api/v1/users', { body })),
    onSuccess: useUsersChanged(),
  });
}

/** Replaces what may change of a user. */
export function useUpdateUser() {
  return useMutation({
    mutationFn: ({ user, patch }: { user: User; patch: Partial<Pick<User, 'display_name' | 'role' | 'disabled'>> }) => {
      const { display_name, role, disabled } = { ...user, ...patch };
      return unwrap(
        api.PUT('/api/v1/users/{name}', {
          params: { path: { name: user.name }, header: ifMatch(user.revision) },
          body: { display_name, role: role as Role, disabled },
        }),
      );
    },
    onSettled: afterWrite(useUsersChanged()),
  });
}

export function useSetPassword(name: string) {
  return useMutation({
    mutationFn: (password: string) =>
      unwrap(api.POST('/api/v1/users/{name}/password', { params: { path: { name } }, body: { password } })),
  });
}
