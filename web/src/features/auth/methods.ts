import { useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';

/** The ways to log in here. */
export function useLoginMethods() {
  return useQuery({
    queryKey: ['login-methods'],
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/auth/methods', { signal })),
  });
}
