import { QueryClient } from '@tanstack/react-query';
import { ApiError } from '@/lib/api/problem';
import { isLost, subscribe } from '@/lib/connection';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      // A refusal stays a refusal; trouble on the way may pass.
      retry: (failures, error) => failures < 1 && !(error instanceof ApiError && error.status < 500),
    },
    mutations: { networkMode: 'always' },
  },
});

// When the connection is back, whatever is on the screen is asked for again.
subscribe(() => {
  if (!isLost()) void queryClient.invalidateQueries();
});
