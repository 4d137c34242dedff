import { expect, test, type Browser, type BrowserContext, type Page } from '@playwright/test';
import { logins, type Who } from './env';
import { login } from './login';

// What each person may do and see, where an address or a guess leads past the buttons; and what happens to a page while
// somebody else changes what it shows.

const stamp = Date.now();
const bucket = `rights-${stamp}`;
const gone = `rights-gone-${stamp}`;
const every = `rights-all-${stamp}`;
const apps = Array.from({ length: 27 }, (_, n) => `zz-${stamp}-${String(n).padStart(2, '0')}`);
const foreign = apps[0] ?? '';
const last = apps.at(-1) ?? '';
const owner = () => logins().owner.name;

let admin: BrowserContext;

async function entered(browser: Browser, baseURL: string | undefined, who: Who): Promise<Page> {
  const context = await browser.newContext({ baseURL: baseURL ?? '', locale: 'en-US' });
  await login(context.request, who);
  return context.newPage();
}

const definition = (over: object = {}) => ({ apps: [foreign], owners: [owner()], max_permits: 100, rate: 50, reason: 'test', ...over });

async function edit(name: string, over: object): Promise<void> {
  const now = await admin.request.get(`/api/v1/buckets/${name}`);
  const saved = await admin.request.put(`/api/v1/buckets/${name}`, { headers: { 'If-Match': now.headers().etag ?? '' }, data: definition(over) });
  expect(saved.status(), await saved.text()).toBe(200);
}

async function remove(kind: 'buckets' | 'apps', name: string): Promise<void> {
  const now = await admin.request.get(`/api/v1/${kind}/${name}`);
  await admin.request.delete(`/api/v1/${kind}/${name}?reason=done`, { headers: { 'If-Match': now.headers().etag ?? '' } });
}

test.beforeAll(async ({ browser, baseURL }) => {
  admin = await browser.newContext({ baseURL: baseURL ?? '', locale: 'en-US' });
  await login(admin.request, 'admin');
  for (const name of apps) expect((await admin.request.post('/api/v1/apps', { data: { name, description: '' } })).status()).toBe(201);
  for (const [name, over] of [[bucket, {}], [gone, {}], [every, { apps: ['*'] }]] as const) {
    const made = await admin.request.post('/api/v1/buckets', { data: { ...definition(over), name } });
    expect(made.status(), await made.text()).toBe(201);
  }
  await edit(bucket, { rate: 60 });
  await remove('buckets', gone);
});

test.afterAll(async () => {
  for (const name of [bucket, every]) await remove('buckets', name);
  for (const name of apps) await remove('apps', name);
  await admin.close();
});

test('a form that one may not send is not shown by its address, and the page says what is missing and whom to ask', async ({ browser, baseURL }) => {
  const page = await entered(browser, baseURL, 'auditor');
  await page.goto(`/create/bucket?from=${bucket}`);
  await expect(page.getByRole('heading', { level: 1, name: 'You don’t have access to this page' })).toBeVisible();
  await expect(page.getByText(/permission bucket\.create/)).toBeVisible();
  await expect(page).toHaveTitle('You don’t have access to this page · Headgate');
  await page.goto(`/buckets/${bucket}/edit`);
  await expect(page.getByText(`(permission bucket.edit). Ask ${owner()}.`)).toBeVisible();
  await page.goto('/webhooks');
  await expect(page.getByText(/permission webhook\.manage/)).toBeVisible();
  await page.goto(`/buckets/${bucket}/history?open=roll-back:1`);
  await expect(page.getByRole('button', { name: 'Roll back to revision 1' })).toHaveAttribute('aria-disabled', 'true');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.goto(`/deleted?search=${gone}`);
  await expect(page.getByRole('button', { name: `Restore ${gone}` })).toHaveAttribute('aria-disabled', 'true');
  // The list may not show it, so its dialog says it, without the form.
  await page.goto(`/deleted?search=nothing-of-this-name&open=restore:${gone}`);
  await expect(page.getByRole('dialog')).toContainText('(permission bucket.edit)');
  await expect(page.getByRole('dialog').getByRole('textbox')).toHaveCount(0);
  await page.context().close();
});

test('no dialog that one may not send opens by its address', async ({ browser, baseURL }) => {
  const page = await entered(browser, baseURL, 'auditor');
  const dialogs: Record<string, string[]> = {
    [`/apps`]: ['new'],
    [`/apps/${foreign}`]: ['edit', 'delete'],
    [`/buckets/${bucket}/settings`]: ['delete', 'switch', 'rule:new', 'remove-rule:1'],
    [`/buckets/${bucket}/use`]: ['try'],
    ['/buckets']: ['bulk'],
    ['/people']: ['new', `edit:${owner()}`, `password:${owner()}`],
    ['/system']: ['reconcile', 'break-glass', 'end-break-glass:1'],
    ['/tokens']: ['account'],
  };
  for (const [path, names] of Object.entries(dialogs)) {
    for (const name of names) {
      await page.goto(`${path}?open=${encodeURIComponent(name)}`);
      await expect(page.getByRole('main').getByRole('heading').first()).toBeVisible();
      await expect(page.locator('[aria-busy=true], .mantine-Skeleton-root')).toHaveCount(0);
      await expect(page.getByRole('dialog'), `${path} ${name}`).toHaveCount(0);
    }
  }
  // As a check of the above: what everybody may send does open.
  await page.goto('/tokens?open=new');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.context().close();
});

test('who may see nothing is refused nothing by only looking', async ({ browser, baseURL }) => {
  const stranger = { name: `rights-${stamp}-stranger`, password: 'a password of a test' };
  const made = await admin.request.post('/api/v1/users', { data: { ...stranger, display_name: 'Nobody', role: 'member' } });
  expect(made.status(), await made.text()).toBe(201);
  const page = await (await browser.newContext({ baseURL: baseURL ?? '', locale: 'en-US' })).newPage();
  expect((await page.request.post('/api/v1/auth/login', { data: stranger })).status()).toBe(200);
  const refused: string[] = [];
  page.on('response', (answer) => answer.status() === 403 && refused.push(answer.url()));
  for (const [path, settled] of [['/buckets', 'No buckets yet'], ['/apps', 'No apps to see'], ['/overview', 'No buckets yet']] as const) {
    await page.goto(path);
    await expect(page.getByText(settled)).toBeVisible();
    await page.evaluate(() => fetch('/api/v1/auth/me').then((answer) => answer.status)); // what was asked before is answered
  }
  expect(refused).toEqual([]);
  await page.context().close();
});

test('an owner of a bucket is told its apps, with links only to those that are there for it', async ({ browser, baseURL }) => {
  const page = await entered(browser, baseURL, 'owner');
  await page.goto(`/buckets/${bucket}`);
  await expect(page.getByRole('main').getByText(foreign, { exact: true })).toBeVisible();
  await expect(page.getByRole('link', { name: foreign })).toHaveCount(0);
  await page.goto('/buckets/e2e-sample/settings');
  await expect(page.getByRole('link', { name: 'checkout' })).toBeVisible();
  await page.context().close();
});

test('a bucket of all apps is tried as any app that one may see, also one of many, and its first call names one', async () => {
  const page = await admin.newPage();
  await page.goto(`/buckets/${every}`);
  await expect(page.getByRole('region', { name: 'A first call' })).toContainText(`/buckets/${every}/try`);
  await expect(page.getByRole('region', { name: 'A first call' })).not.toContainText('my-app');
  await page.goto(`/buckets/${every}/use`);
  await page.getByRole('combobox', { name: 'For the app' }).fill(last);
  await page.getByRole('option', { name: last }).click();
  await expect(page.getByRole('main')).toContainText(`client.New(redis.NewClient(options), "${last}")`);
  await page.close();
});

test('a switch stands on what was seen when its dialog was opened', async () => {
  const page = await admin.newPage();
  await page.goto(`/buckets/${bucket}/settings`);
  await page.getByRole('button', { name: 'Switch off' }).click();
  await edit(bucket, { rate: 60, mode: 'off' });
  await expect(page.getByText('Off', { exact: true }).first()).toBeVisible({ timeout: 30_000 });
  const dialog = page.getByRole('dialog', { name: `Switch ${bucket} off` });
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('too much');
  await dialog.getByRole('button', { name: 'Switch off' }).click();
  await expect(dialog.getByText('It was changed by someone else in the meantime.')).toBeVisible();
  await page.close({ runBeforeUnload: false });
});

test('a list is exported under all of its filters', async () => {
  const page = await admin.newPage();
  await page.goto(`/buckets?search=${bucket}&sync=synced`);
  await page.getByRole('button', { name: 'Export' }).click();
  const file = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: /CSV/ }).click();
  expect(new URL((await file).url()).searchParams.get('sync')).toBe('synced');
  await page.close();
});

test('the reader of what is deleted meanwhile is told so', async () => {
  const name = `rights-read-${stamp}`;
  await admin.request.post('/api/v1/buckets', { data: { ...definition(), name } });
  const page = await admin.newPage();
  await page.goto(`/buckets/${name}/definition`);
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  await remove('buckets', name);
  await expect(page.getByText('This is no longer there')).toBeVisible({ timeout: 30_000 });
  await page.close();
});
