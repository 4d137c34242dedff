import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';

const pageSize = 30;

export interface ChangeListQuery {
  actor: string;
  action: string;
  target_kind: string;
  target: string;
  from: string;
  to: string;
  cursor: string;
}

export function useChanges(query: ChangeListQuery) {
  return useQuery({
    queryKey: ['changes', query],
    queryFn: ({ signal }) => {
      const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
      return unwrap(api.GET('/api/v1/changes', { params: { query: { ...given, limit: pageSize } }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}
