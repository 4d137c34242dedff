import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';

/** The labels, as "key=value", of all buckets that one may see, as far as they contain `search`. */
export function useLabelNames(search: string) {
  return useQuery({
    queryKey: ['buckets', 'labels', search],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/bucket-labels', { params: { query: search ? { search } : {} }, signal })),
    placeholderData: keepPreviousData,
    select: (answer) => answer.items.map(({ key, value }) => `${key}=${value}`),
  });
}
