import { queryOptions, useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { api, unwrap } from './client';
import type { Me } from './types';

/** Who is logged in, and what they may do. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => unwrap(api.GET('/api/v1/auth/me', { signal })),
  staleTime: 60_000,
});

export function useMeQuery() {
  return useQuery(meQuery);
}

export const MeContext = createContext<Me | null>(null);

/** The logged-in person; only to be called on pages behind the login. */
export function useMe(): Me {
  const me = use(MeContext);
  if (me === null) throw new Error('useMe outside of RequireSession');
  return me;
}

/** Whether the server said that this person holds a permission somewhere. */
export function can(me: Me, permission: string): boolean {
  return me.permissions.includes(permission);
}
