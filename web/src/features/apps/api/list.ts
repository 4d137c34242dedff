import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';

const pageSize = 25;

export function useApps(query: { search: string; cursor: string; sort: string }) {
  return useQuery({
    queryKey: ['apps', 'list', query],
    queryFn: ({ signal }) => {
      const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
      return unwrap(api.GET('/api/v1/apps', { params: { query: { ...given, limit: pageSize } }, signal }));
    },
    placeholderData: keepPreviousData,
  });
}
