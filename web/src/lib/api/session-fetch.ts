import { ConnectionError } from './problem';

/** What a session fetch needs from the outside; tests hand in their own. */
export interface SessionFetchParts {
  send: (request: Request) => Promise<Response>;
  /** Called when the session cannot be renewed any more. */
  onSessionEnd: () => void;
  /** Called with false when a request could not reach the server, with true when one did. */
  onReach: (reached: boolean) => void;
  /** Runs work while no other tab runs its own. */
  exclusive: (work: () => Promise<boolean>) => Promise<boolean>;
  /** When any tab last renewed the session, in ms since 1970. */
  renewedAt: { get: () => number; set: (at: number) => void };
  now: () => number;
}

const authPath = '/api/v1/auth/';

/**
 * A fetch for the API. The access cookie is short-lived: on a 401 the session is renewed once, by one request whatever
 * the number of callers and tabs that wait for it, and the refused request is sent again.
 */
export function createSessionFetch(parts: SessionFetchParts): (request: Request) => Promise<Response> {
  let renewing: Promise<boolean> | null = null;

  async function send(request: Request): Promise<Response> {
    try {
      const response = await parts.send(request);
      parts.onReach(true);
      return response;
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') throw error;
      parts.onReach(false);
      throw new ConnectionError(error);
    }
  }

  async function renew(refusedAt: number, origin: string): Promise<boolean> {
    return parts.exclusive(async () => {
      // Another tab may have renewed while this one waited: the shared cookie is fresh already.
      if (parts.renewedAt.get() >= refusedAt) return true;
      const response = await send(new Request(new URL(`${authPath}refresh`, origin), { method: 'POST' }));
      if (response.ok) parts.renewedAt.set(parts.now());
      else if (response.status !== 401) throw new ConnectionError(`refresh answered ${response.status}`);
      return response.ok;
    });
  }

  return async (request) => {
    const url = new URL(request.url);
    // Login and refresh answer 401 for themselves; only "who am I" and logout are ordinary requests among them.
    const renewable = !['login', 'refresh'].some((name) => url.pathname === authPath + name);
    const again = renewable ? request.clone() : null;
    const sentAt = parts.now();
    const response = await send(request);
    if (response.status !== 401 || again === null) return response;

    renewing ??= renew(sentAt, url.origin).finally(() => {
      renewing = null;
    });
    if (!(await renewing)) {
      parts.onSessionEnd();
      return response;
    }
    const second = await send(again);
    if (second.status === 401) parts.onSessionEnd();
    return second;
  };
}
