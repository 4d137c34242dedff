import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/lib/api/client';

const pageSize = 25;

const largestPage = 200;
const triesMost = 50;

/** A page may come empty where buckets of later names were in force: nobody wants to leaf through such pages. */
async function firstPage(at: string, cursor: string, signal: AbortSignal) {
  for (let limit = pageSize, tries = 1; ; limit = largestPage, tries++) {
    const query = { at, limit, ...(cursor && { cursor }) };
    const page = await unwrap(api.GET('/api/v1/as-of', { params: { query }, signal }));
    if (page.items.length > 0 || !page.next || tries === triesMost) return page;
    cursor = page.next;
  }
}

/** All buckets that were in force at an instant; nothing is asked while `at` is "". */
export function useBucketsAsOf({ at, cursor, enabled }: { at: string; cursor: string; enabled: boolean }) {
  return useQuery({
    queryKey: ['as-of', 'all', at, cursor],
    queryFn: ({ signal }) => firstPage(at, cursor, signal),
    placeholderData: keepPreviousData,
    enabled: enabled && at !== '',
  });
}

/** One bucket at an instant, with those who could change and see it. */
export function useBucketAsOf({ name, at, enabled }: { name: string; at: string; enabled: boolean }) {
  return useQuery({
    queryKey: ['as-of', 'one', name, at],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/api/v1/buckets/{name}/as-of', { params: { path: { name }, query: { at } }, signal })),
    enabled: enabled && at !== '' && name !== '',
  });
}
