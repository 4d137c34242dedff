import { expect, type APIRequestContext, type APIResponse } from '@playwright/test';
import { logins } from './env';

// What there is to look at on the pages: little and much, plain and awkward.

export const sample = 'e2e-sample';
export const slots = 'e2e-slots';
export const deleted = 'e2e-deleted';
export const webhook = 'e2e-pager';
/** As long as a name may be, without a place to break it. */
export const long = `e2e-long-${'partner.gateway.eu-west-1.payments'.repeat(4)}`.slice(0, 128);
/** Right-to-left, emoji, markup and a word without an end. */
export const awkward = `שלום <b>bold</b> 🚦 ${'w'.repeat(90)} 支付伙伴每秒最多接受五十次调用`;

/** Makes sure that there are buckets to visit, one of them with a history. The requests are the owner's. */
export async function ensureSamples(request: APIRequestContext): Promise<void> {
  if ((await request.get(`/api/v1/buckets/${slots}`)).ok()) return;
  await ensureTokenBucket(request);
  await made(
    request.post('/api/v1/tokens', {
      data: { name: 'nightly-report', scopes: ['read', 'write'], expires_in_days: 7, reason: 'The report of the night' },
    }),
  );
  await makeBucket(request, {
    name: long,
    description: awkward,
    labels: { 'team-that-owns-it': 'x'.repeat(60), tier: 'gold' },
    max_permits: 1_000_000_000,
    rate: 999_999_999,
    period_ms: 86_400_000,
    reason: awkward,
  });
  await ensureDeleted(request);
  await makeBucket(request, {
    name: slots,
    description: 'Report exports that run at once.',
    algorithm: 'concurrency',
    max_permits: 4,
    period_ms: 30_000,
    reason: 'The export servers run four',
  });
}

/** Makes sure that there are an endpoint, and a person, to look at. The requests are an admin's. */
export async function ensureAdminSamples(request: APIRequestContext): Promise<void> {
  if ((await request.get(`/api/v1/webhooks/${webhook}`)).ok()) return;
  await made(
    request.post('/api/v1/users', {
      data: { name: 'e2e.noor', display_name: 'نور 🚦 Ardakani-Wettstein of the payments platform', role: 'member', password: 'a long enough password' },
    }),
  );
  const receiver = { url: 'https://pager.example.com/headgate', actions: ['alert.started', 'alert.ended'], enabled: false };
  await made(request.post('/api/v1/webhooks', { data: { ...receiver, name: webhook, description: awkward, reason: 'Alerts page the night shift' } }));
}

async function made(answer: Promise<APIResponse>): Promise<APIResponse> {
  const got = await answer;
  expect(got.ok(), await got.text()).toBe(true);
  return got;
}

function makeBucket(request: APIRequestContext, over: Record<string, unknown>): Promise<APIResponse> {
  const usual = { apps: ['checkout'], owners: [logins().owner.name], partition: 'shared' };
  return made(request.post('/api/v1/buckets', { data: { ...usual, ...over } }));
}

/** Leaves a deleted bucket, for the page of those. */
async function ensureDeleted(request: APIRequestContext): Promise<void> {
  const answer = await makeBucket(request, { name: deleted, max_permits: 20, rate: 10, reason: 'A trial of the partner' });
  await made(
    request.delete(`/api/v1/buckets/${deleted}?reason=The%20trial%20is%20over`, { headers: { 'If-Match': answer.headers().etag ?? '' } }),
  );
}

async function ensureTokenBucket(request: APIRequestContext): Promise<void> {
  const definition = {
    description: 'The payment partner takes 50 calls a second from all of us, bursts of 100.',
    labels: { team: 'payments', tier: 'gold' },
    apps: ['checkout'],
    owners: [logins().owner.name],
    max_permits: 100,
    rate: 50,
    period_ms: 1000,
    partition: 'shared',
  };
  const answer = await makeBucket(request, { ...definition, name: sample, reason: 'Contract with the payment partner' });
  await made(
    request.put(`/api/v1/buckets/${sample}`, {
      headers: { 'If-Match': answer.headers().etag ?? '' },
      data: { ...definition, rate: 80, mode: 'shadow', reason: 'Trying the higher limit of the new contract' },
    }),
  );
  const rules = [{ kind: 'limited_share', percent: 5, minutes: 3 }];
  await made(
    request.put(`/api/v1/buckets/${sample}/alert-rules`, { headers: { 'If-Match': '"1"' }, data: { rules, reason: 'The partner counts refusals' } }),
  );
}
