import { expect, type APIRequestContext, type Page } from '@playwright/test';
import { logins, type Who } from './env';

/** A page of the console, as the checks of all pages visit it. */
export interface Visit {
  name: string;
  path: string;
  who: Who | null;
  /** Brings the page into the state to look at. */
  prepare?: (page: Page) => Promise<void>;
}

const sampleName = 'e2e-sample';
const slotsName = 'e2e-slots';
const deletedName = 'e2e-deleted';

/** Makes sure that there are buckets to visit, one of them with a history. The requests are the owner's. */
export async function ensureSamples(request: APIRequestContext): Promise<void> {
  if ((await request.get(`/api/v1/buckets/${sampleName}`)).ok()) return;
  await ensureTokenBucket(request);
  const token = await request.post('/api/v1/tokens', {
    data: { name: 'nightly-report', scopes: ['read', 'write'], expires_in_days: 7, reason: 'The report of the night' },
  });
  expect(token.status(), await token.text()).toBe(201);
  const slots = { name: slotsName, description: 'Report exports that run at once.', algorithm: 'concurrency', max_permits: 4, period_ms: 30_000 };
  const made = await request.post('/api/v1/buckets', {
    data: { ...slots, apps: ['checkout'], owners: [logins().owner.name], partition: 'shared', reason: 'The export servers run four' },
  });
  expect(made.status(), await made.text()).toBe(201);
  await ensureDeleted(request);
}

/** Leaves a deleted bucket, for the page of those. */
async function ensureDeleted(request: APIRequestContext): Promise<void> {
  const made = await request.post('/api/v1/buckets', {
    data: { name: deletedName, apps: ['checkout'], max_permits: 20, rate: 10, partition: 'shared', reason: 'A trial of the partner' },
  });
  expect(made.status(), await made.text()).toBe(201);
  const gone = await request.delete(`/api/v1/buckets/${deletedName}?reason=The%20trial%20is%20over`, {
    headers: { 'If-Match': made.headers().etag ?? '' },
  });
  expect(gone.status(), await gone.text()).toBe(200);
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
  const made = await request.post('/api/v1/buckets', {
    data: { ...definition, name: sampleName, reason: 'Contract with the payment partner' },
  });
  expect(made.status(), await made.text()).toBe(201);
  const edited = await request.put(`/api/v1/buckets/${sampleName}`, {
    headers: { 'If-Match': made.headers().etag ?? '' },
    data: { ...definition, rate: 80, mode: 'shadow', reason: 'Trying the higher limit of the new contract' },
  });
  expect(edited.status(), await edited.text()).toBe(200);
}

const click = (selector: string) => async (page: Page) => {
  await page.locator(selector).first().click();
};

/** The present second as an input of date and time takes it. */
function localSecond(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

const figuresThere = async (page: Page) => {
  await expect(page.getByTestId('granted-per-second')).not.toHaveText('–');
};

/** Every page, and the dialogs that matter. */
export const visits: Visit[] = [
  { name: 'login', path: '/login', who: null },
  {
    name: 'login-refused',
    path: '/login',
    who: null,
    prepare: async (page) => {
      await page.locator('input[name=username]').fill('nobody');
      await page.locator('input[name=password]').fill('not the password');
      await page.locator('button[type=submit]').click();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'overview', path: '/overview', who: 'owner' },
  { name: 'alerts', path: '/alerts', who: 'owner' },
  { name: 'profile', path: '/profile', who: 'owner' },
  { name: 'system', path: '/system', who: 'auditor' },
  {
    name: 'palette',
    path: '/buckets',
    who: 'admin',
    prepare: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
      await page.getByRole('option').first().waitFor();
    },
  },
  {
    name: 'shortcuts',
    path: '/buckets',
    who: 'admin',
    prepare: async (page) => {
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'buckets', path: '/buckets', who: 'owner' },
  { name: 'buckets-no-match', path: '/buckets?search=nothing-like-this', who: 'owner' },
  { name: 'bucket-create', path: '/create/bucket', who: 'owner' },
  {
    name: 'bucket-create-slots',
    path: '/create/bucket',
    who: 'owner',
    prepare: async (page) => {
      await page.locator('input[value=concurrency]').click();
      await page.locator('input[value=app_key]').click();
    },
  },
  { name: 'bucket-create-refused', path: '/create/bucket', who: 'owner', prepare: click('form button[type=submit]') },
  {
    name: 'bucket-overview',
    path: `/buckets/${sampleName}`,
    who: 'owner',
    prepare: figuresThere,
  },
  { name: 'bucket-overview-slots', path: `/buckets/${slotsName}`, who: 'owner', prepare: figuresThere },
  { name: 'bucket-definition-slots', path: `/buckets/${slotsName}/definition`, who: 'owner' },
  { name: 'bucket-definition', path: `/buckets/${sampleName}/definition`, who: 'owner' },
  { name: 'bucket-history', path: `/buckets/${sampleName}/history`, who: 'owner' },
  {
    name: 'bucket-roll-back',
    path: `/buckets/${sampleName}/history`,
    who: 'owner',
    prepare: async (page) => {
      await page.locator('article button').first().click();
      await page.getByRole('dialog').getByTestId('field-diff').waitFor();
    },
  },
  { name: 'deleted', path: '/deleted', who: 'owner' },
  { name: 'deleted-none', path: '/deleted?search=nothing-like-this', who: 'owner' },
  {
    name: 'bucket-restore',
    path: '/deleted',
    who: 'owner',
    prepare: async (page) => {
      await page.locator('main td button').first().click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'bucket-use', path: `/buckets/${sampleName}/use`, who: 'owner' },
  { name: 'bucket-overview-90d', path: `/buckets/${sampleName}?range=90d`, who: 'owner' },
  {
    name: 'bucket-try',
    path: `/buckets/${sampleName}/use`,
    who: 'owner',
    prepare: async (page) => {
      await page.locator('section').last().getByRole('button').click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'bucket-settings', path: `/buckets/${sampleName}/settings`, who: 'owner' },
  {
    name: 'bucket-delete',
    path: `/buckets/${sampleName}/settings`,
    who: 'owner',
    prepare: async (page) => {
      await page.locator('section button').last().click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'bucket-edit', path: `/buckets/${sampleName}/edit`, who: 'owner' },
  {
    name: 'bucket-review',
    path: `/buckets/${sampleName}/edit`,
    who: 'owner',
    prepare: async (page) => {
      await page.locator('fieldset').nth(1).getByRole('textbox').first().fill('25');
      await page.locator('form button[type=submit]').click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'bucket-review-anew',
    path: `/buckets/${sampleName}/edit`,
    who: 'owner',
    prepare: async (page) => {
      await page.locator('input[value=concurrency]').click();
      await page.locator('input[value=key]').click();
      await page.locator('form button[type=submit]').click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'bucket-as-auditor', path: `/buckets/${sampleName}/definition`, who: 'auditor' },
  { name: 'not-found', path: '/buckets/e2e-not-there', who: 'owner' },
  { name: 'forbidden', path: '/people', who: 'owner' },
  { name: 'apps', path: '/apps', who: 'owner' },
  { name: 'apps-admin', path: '/apps', who: 'admin' },
  { name: 'app', path: '/apps/checkout', who: 'owner' },
  {
    name: 'app-create',
    path: '/apps',
    who: 'admin',
    prepare: async (page) => {
      await page.locator('main button').first().click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'people', path: '/people', who: 'admin' },
  {
    name: 'person-create',
    path: '/people',
    who: 'admin',
    prepare: async (page) => {
      await page.locator('main button').first().click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'tokens', path: '/tokens', who: 'owner' },
  { name: 'tokens-everyones', path: '/tokens?all=true', who: 'admin' },
  { name: 'tokens-none', path: '/tokens', who: 'auditor' },
  {
    name: 'token-create',
    path: '/tokens',
    who: 'admin',
    prepare: async (page) => {
      await page.locator('main button').nth(1).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'token-secret',
    path: '/tokens',
    who: 'owner',
    prepare: async (page) => {
      await page.locator('main button').first().click();
      await page.getByRole('dialog').locator('input[type=text], input:not([type])').first().fill(`seen-${Date.now()}`);
      await page.getByRole('dialog').locator('button[type=submit]').click();
      await page.getByRole('dialog').getByText(/^hgp_/).first().waitFor();
    },
  },
  {
    name: 'service-account-create',
    path: '/tokens',
    who: 'admin',
    prepare: async (page) => {
      await page.locator('main button').first().click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'webhooks', path: '/webhooks', who: 'admin' },
  {
    name: 'webhook-create',
    path: '/webhooks',
    who: 'admin',
    prepare: async (page) => {
      await page.locator('main button').first().click();
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'people-as-auditor', path: '/people', who: 'auditor' },
  { name: 'as-of-choose', path: '/as-of', who: 'auditor' },
  {
    name: 'as-of',
    path: '/as-of',
    who: 'auditor',
    prepare: async (page) => {
      await page.locator('input[type=datetime-local]').fill(localSecond(new Date()));
      await page.getByRole('table').waitFor();
    },
  },
  {
    name: 'as-of-bucket',
    path: '/as-of',
    who: 'auditor',
    prepare: async (page) => {
      await page.locator('input[type=datetime-local]').fill(localSecond(new Date()));
      await page.getByRole('table').getByRole('link').first().click();
      await page.locator('section').nth(2).waitFor();
    },
  },
  {
    name: 'people-why',
    path: '/people',
    who: 'auditor',
    prepare: async (page) => {
      await page.locator('main button:has(.tabler-icon-help)').click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'audit',
    path: '/audit',
    who: 'auditor',
    prepare: click('main li button[aria-expanded=false]'),
  },
];

/** How a page is looked at. */
export interface Look {
  name: string;
  language: 'en' | 'zh-CN';
  scheme: 'light' | 'dark';
  width: number;
  height: number;
}

export const looks: Look[] = [
  { name: 'light', language: 'en', scheme: 'light', width: 1280, height: 800 },
  { name: 'dark', language: 'en', scheme: 'dark', width: 1280, height: 800 },
  { name: 'zh-CN', language: 'zh-CN', scheme: 'light', width: 1280, height: 800 },
  { name: 'narrow', language: 'en', scheme: 'light', width: 360, height: 740 },
  { name: 'narrow-zh-dark', language: 'zh-CN', scheme: 'dark', width: 360, height: 740 },
];

/** Sets language and scheme before the console starts. */
export async function wear(page: Page, look: Look): Promise<void> {
  await page.addInitScript(([language, scheme]) => {
    localStorage.setItem('headgate.language', language);
    localStorage.setItem('mantine-color-scheme-value', scheme);
  }, [look.language, look.scheme] as const);
}

/** Opens a page and waits until it has its content and its fonts, and nothing moves any more. */
export async function open(page: Page, visit: Visit): Promise<void> {
  await page.goto(visit.path);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await expect(page.locator('[aria-busy=true], .mantine-Skeleton-root')).toHaveCount(0);
  await visit.prepare?.(page);
  await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0);
  await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => null))));
}
