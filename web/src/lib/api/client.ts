import createClient from 'openapi-fetch';
import { needTexts } from '@/lib/i18n';
import { reached } from '@/lib/connection';
import { timed } from '@/lib/slow';
import { toApiError, type ApiError } from './problem';
import type { paths } from './schema.gen';
import { createSessionFetch } from './session-fetch';

const renewedKey = 'headgate.session-renewed-at';
const sessionEnd = new EventTarget();

/** Calls listener when the server has ended the session; returns the way to stop listening. */
export function onSessionEnd(listener: () => void): () => void {
  sessionEnd.addEventListener('end', listener);
  return () => sessionEnd.removeEventListener('end', listener);
}

async function exclusive(work: () => Promise<boolean>): Promise<boolean> {
  // Locks exist in secure contexts only; elsewhere two tabs may both renew, which costs one more request.
  return 'locks' in navigator ? navigator.locks.request('headgate-refresh', work) : work();
}

const sessionFetch = createSessionFetch({
  send: (request) => timed(fetch(request)),
  onSessionEnd: () => sessionEnd.dispatchEvent(new Event('end')),
  onReach: reached,
  exclusive,
  renewedAt: {
    get: () => Number(localStorage.getItem(renewedKey) ?? 0),
    set: (at) => localStorage.setItem(renewedKey, String(at)),
  },
  now: () => Date.now(),
});

/** The API, typed by the server's OpenAPI document. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: sessionFetch });

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Turns an answer into its data, or throws it as an ApiError. */
export async function unwrap<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (!response.ok) throw await refusalOf(error, response.status);
  return data as T;
}

/** The ApiError of an error answer, with the texts of the rules there that it names; without them its English is shown. */
export async function refusalOf(body: unknown, status: number): Promise<ApiError> {
  const refusal = toApiError(body, status);
  if (refusal.problem.rule || refusal.fields.length > 0) await needTexts('rules').catch(() => undefined);
  return refusal;
}

/** The header that says which revision a write is based on. */
export function ifMatch(revision: number): { 'If-Match': string } {
  return { 'If-Match': `"${revision}"` };
}
