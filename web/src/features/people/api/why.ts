import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';
import type { Action } from '@/lib/api/types';

/** The permission table: the actions, with what each is asked for. */
export function useActions() {
  return useQuery({
    queryKey: ['permissions'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/permissions', { signal })),
    staleTime: Infinity, // it changes with the server's version only
    select: (answer) => answer.items ?? [],
  });
}

const most = 50; // names offered at once; the search finds the others

/** Users that contain `search`, disabled ones too: of them it is asked why they may nothing. */
export function useAllUsers(search: string) {
  return useQuery({
    queryKey: ['users', 'all', search],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/users', { params: { query: { limit: most, ...(search ? { search } : {}) } }, signal })),
    placeholderData: keepPreviousData,
    select: (answer) => answer.items ?? [],
  });
}

/** Names of buckets that contain `search`. */
export function useBucketNames(search: string, enabled: boolean) {
  return useQuery({
    queryKey: ['buckets', 'names', search],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/buckets', { params: { query: { limit: most, ...(search ? { search } : {}) } }, signal })),
    placeholderData: keepPreviousData,
    enabled,
    select: (answer) => (answer.items ?? []).map((bucket) => bucket.name),
  });
}

export interface Question {
  user: string;
  action: Action['action'];
  of: Action['of'];
  /** The bucket's or the app's name; '' where the action is of neither. */
  object: string;
}

/** Whether the user may do that there, and why; nothing is asked until the question is whole. */
export function useWhy({ user, action, of, object }: Question) {
  const on = of === 'bucket' ? { bucket: object } : of === 'app' ? { app: object } : {};
  return useQuery({
    queryKey: ['users', 'why', user, action, of, object],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/users/{name}/permissions', { params: { path: { name: user }, query: { action, ...on } }, signal })),
    enabled: user !== '' && action !== '' && (of === 'all' || object !== ''),
    staleTime: 0,
  });
}
