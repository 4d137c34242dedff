import { describe, expect, test, vi } from 'vitest';
import { ConnectionError } from './problem';
import { createSessionFetch, type SessionFetchParts } from './session-fetch';

const origin = 'http://headgate.test';
const path = (request: Request) => new URL(request.url).pathname;

/** A server whose access cookie is good or not, and a browser in front of it. */
function world(over: Partial<SessionFetchParts> = {}) {
  const state = { good: false, renewable: true, refreshes: 0, renewedAt: 0, now: 1000 };
  const bodies: string[] = [];
  const onSessionEnd = vi.fn();
  const onReach = vi.fn();
  const parts: SessionFetchParts = {
    send: async (request) => {
      if (path(request) === '/api/v1/auth/refresh') {
        state.refreshes++;
        await Promise.resolve();
        state.good = state.renewable;
        return new Response(null, { status: state.renewable ? 200 : 401 });
      }
      if (path(request) === '/api/v1/auth/login') return new Response(null, { status: 401 });
      bodies.push(await request.text());
      return new Response(null, { status: state.good ? 200 : 401 });
    },
    onSessionEnd,
    onReach,
    exclusive: (work) => work(),
    renewedAt: { get: () => state.renewedAt, set: (at) => (state.renewedAt = at) },
    now: () => state.now++,
    ...over,
  };
  const fetch = createSessionFetch(parts);
  return { state, bodies, onSessionEnd, onReach, get: (p: string) => fetch(new Request(origin + p)), fetch };
}

describe('a refused request', () => {
  test('is sent again after the session was renewed, with its body', async () => {
    const w = world();
    const request = new Request(`${origin}/api/v1/buckets`, { method: 'POST', body: '{"name":"b"}' });
    expect((await w.fetch(request)).status).toBe(200);
    expect(w.bodies).toEqual(['{"name":"b"}', '{"name":"b"}']);
    expect(w.state.refreshes).toBe(1);
    expect(w.onSessionEnd).not.toHaveBeenCalled();
  });

  test('shares one renewal with all others that were refused at the same time', async () => {
    const w = world();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => w.get(`/api/v1/buckets/${i}`)));
    expect(answers.map((a) => a.status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(w.state.refreshes).toBe(1);
  });

  test('asks for no renewal when another tab renewed meanwhile', async () => {
    const w = world({
      // The other tab ended its renewal while this one waited for the lock.
      renewedAt: {
        get: () => {
          w.state.good = true;
          return Number.MAX_SAFE_INTEGER;
        },
        set: () => undefined,
      },
    });
    expect((await w.get('/api/v1/buckets')).status).toBe(200);
    expect(w.state.refreshes).toBe(0);
  });

  test('ends the session when it cannot be renewed, and comes back as it was', async () => {
    const w = world();
    w.state.renewable = false;
    expect((await w.get('/api/v1/buckets')).status).toBe(401);
    expect(w.state.refreshes).toBe(1);
    expect(w.onSessionEnd).toHaveBeenCalledOnce();
  });

  test('leads to a new renewal later, once the first is over', async () => {
    const w = world();
    await w.get('/api/v1/buckets');
    w.state.good = false;
    expect((await w.get('/api/v1/buckets')).status).toBe(200);
    expect(w.state.refreshes).toBe(2);
  });
});

test('a refused login is no reason to renew', async () => {
  const w = world();
  expect((await w.get('/api/v1/auth/login')).status).toBe(401);
  expect(w.state.refreshes).toBe(0);
  expect(w.onSessionEnd).not.toHaveBeenCalled();
});

test('trouble while renewing does not end the session', async () => {
  const w = world({
    send: async (request) => new Response(null, { status: path(request).endsWith('refresh') ? 503 : 401 }),
  });
  await expect(w.get('/api/v1/buckets')).rejects.toThrow(ConnectionError);
  expect(w.onSessionEnd).not.toHaveBeenCalled();
});

test('an unreachable server is told apart from a cancelled request', async () => {
  const down = world({ send: () => Promise.reject(new TypeError('failed to fetch')) });
  await expect(down.get('/api/v1/buckets')).rejects.toThrow(ConnectionError);
  expect(down.onReach).toHaveBeenLastCalledWith(false);

  const left = world({ send: () => Promise.reject(new DOMException('aborted', 'AbortError')) });
  await expect(left.get('/api/v1/buckets')).rejects.toThrow('aborted');
  expect(left.onReach).not.toHaveBeenCalled();
});
