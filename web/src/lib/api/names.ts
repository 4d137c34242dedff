import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from './client';

/** Names of users that contain `search`, for pickers. */
export function useUserNames(search: string) {
  return useQuery({
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
