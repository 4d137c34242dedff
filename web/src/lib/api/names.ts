import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { api, unwrap } from './client';
import { can, useMe } from './me';

/** Names of users that contain `search`, for pickers. Who has nobody to pick does not ask: a refusal would be history. */
export function useUserNames(search: string) {
  const enabled = can(useMe(), 'user.names');
  return useQuery({
    enabled,
    queryKey: ['users', 'names', search],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/users/names', { params: { query: { search } }, signal })),
    placeholderData: keepPreviousData,
    select: (answer) => answer.items ?? [],
  });
}

const most = 25; // apps offered at once: a list of hundreds takes long to draw, and the search finds the others

/** Names of the apps that one may see, and that contain `search`. */
export function useAppNames(search: string) {
  return useQuery({
    queryKey: ['apps', 'names', search],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/apps', { params: { query: { limit: most, ...(search ? { search } : {}) } }, signal })),
    placeholderData: keepPreviousData,
    select: (answer) => (answer.items ?? []).map((app) => app.name),
  });
}

/** Whether an app's page is there for the reader. An owner of a bucket is told apps of it that it may not see. */
export function useSeesApp(): (name: string) => boolean {
  const all = can(useMe(), 'app.see');
  const own = useQuery({
    queryKey: ['apps', 'own'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/apps', { params: { query: { limit: 200 } }, signal })),
    enabled: !all,
    staleTime: 60_000,
  });
  const known = own.data;
  return useCallback((name) => all || Boolean(known?.next) || (known?.items ?? []).some((app) => app.name === name), [all, known]);
}
