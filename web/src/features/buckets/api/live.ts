import { api, unwrap } from '@/lib/api/client';

/** A bucket's present state in Redis, with the usage counters of the last two minutes. */
export function fetchLive(name: string, signal: AbortSignal) {
  return unwrap(api.GET('/api/v1/buckets/{name}/live', { params: { path: { name } }, signal }));
}
