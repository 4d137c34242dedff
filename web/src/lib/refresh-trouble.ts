import { useQueryClient, type Query } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';

// A page whose first load fails says so itself; one that has data keeps showing them, so that a refresh which fails
// would go unseen.
const stuck = (query: Query) => query.isActive() && query.state.status === 'error' && query.state.data !== undefined;

/** Why something on the page could not be refreshed; null while all of it is fresh. */
export function useRefreshTrouble(): { error: Error | null; retry: () => void } {
  const client = useQueryClient();
  const cache = client.getQueryCache();
  const subscribe = useCallback((listener: () => void) => cache.subscribe(listener), [cache]);
  const error = useSyncExternalStore(subscribe, () => cache.getAll().find(stuck)?.state.error ?? null);
  const retry = useCallback(() => void client.refetchQueries({ predicate: stuck }), [client]);
  return { error, retry };
}
