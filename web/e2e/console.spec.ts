import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test, type Page } from '@playwright/test';
import { logins } from './env';
import { Load } from './load';
import { login } from './login';
import { Watch } from './violations';

// What makes the console quick to live in: keys, live figures, ranges, trials, one's own profile.

const run = promisify(execFile);
let bucket: string;
let counter = 0;

test.beforeEach(async ({ page }) => {
  await login(page.request, 'owner');
  bucket = `console-${Date.now()}-${counter++}`;
  const definition = { apps: ['checkout'], owners: [logins().owner.name], max_permits: 100, rate: 50, partition: 'shared', reason: 'test' };
  const made = await page.request.post('/api/v1/buckets', { data: { ...definition, name: bucket } });
  expect(made.status(), await made.text()).toBe(201);
});

test.afterEach(async ({ page }) => {
  await login(page.request, 'owner');
  const answer = await page.request.get(`/api/v1/buckets/${bucket}`);
  if (!answer.ok()) return;
  await page.request.delete(`/api/v1/buckets/${bucket}?reason=done`, { headers: { 'If-Match': answer.headers().etag ?? '' } });
});

const palette = (page: Page) => page.getByRole('combobox', { name: 'Search and commands' });

test('the palette finds pages, actions and buckets by the keyboard alone, and gives the focus back', async ({ page }) => {
  const watch = new Watch(page);
  await page.goto('/overview');
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await page.getByRole('button', { name: 'Search and commands' }).first().focus();
  await page.keyboard.press('Control+k');
  await palette(page).fill(bucket);
  await expect(page.getByRole('option', { name: bucket })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: bucket })).toBeVisible();
  await page.keyboard.press('Control+k');
  await palette(page).fill('dark');
  await page.keyboard.press('Enter');
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
  await page.getByRole('link', { name: 'Edit' }).focus();
  await page.keyboard.press('Control+k');
  await expect(palette(page)).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('link', { name: 'Edit' })).toBeFocused();
  watch.expectNone('the palette');
});

test('keys lead to pages and to the sheet of keys, and none works inside an input', async ({ page }) => {
  await page.goto('/buckets');
  await expect(page.getByRole('searchbox')).toBeVisible();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('/');
  await page.keyboard.type('ga?c/');
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('searchbox')).toHaveValue('ga?c/');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page).toHaveURL(/\/buckets/);
  await page.getByRole('heading', { level: 1 }).click();
  await expect(async () => {
    await page.keyboard.press('g'); // the second key must follow within 1.5 s, which a busy machine may miss
    await page.keyboard.press('a');
    await expect(page.getByRole('heading', { level: 1, name: 'Apps' })).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 20_000 });
  await expect(page).toHaveTitle('Apps · Headgate');
});

test('live figures come by events, are parted by app, name the instances, and rest when paused', async ({ page }) => {
  await page.goto(`/buckets/${bucket}`);
  const load = new Load('checkout', bucket, 80, '60s');
  try {
    await expect.poll(async () => Number(await page.getByTestId('granted-per-second').textContent()), { timeout: 20_000 }).toBeGreaterThan(40);
    await expect(page.getByRole('row').filter({ hasText: 'checkout' }).first()).toContainText('100%');
    await expect(page.locator('[data-revision="1"]')).toBeVisible({ timeout: 15_000 });
    await page.getByText('1 h', { exact: true }).click();
    await expect(page).toHaveURL(/range=1h/);
    await page.reload();
    await expect(page.getByRole('radio', { name: '1 h', exact: true })).toBeChecked();
    await expect(page.getByText('Changes in this range:')).toBeVisible();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.getByRole('button', { name: 'Show the whole range' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await expect(page.getByRole('button', { name: 'Resume' })).toBeVisible();
  } finally {
    load.stop();
  }
});

test('one real acquire is tried after a confirmation, and leaves a row in the history', async ({ page }) => {
  await page.goto(`/buckets/${bucket}/use`);
  await page.getByRole('button', { name: 'Try…' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('This takes real permits')).toBeVisible();
  await dialog.getByRole('button', { name: 'Acquire now' }).click();
  await expect(page.getByText('Granted', { exact: true })).toBeVisible();
  await expect(page.getByText('99 of 100 left.')).toBeVisible();
  await login(page.request, 'auditor');
  await page.goto(`/audit?target=${bucket}&action=bucket.try`);
  await expect(page.getByRole('main').getByRole('listitem').filter({ hasText: 'tried one acquire' })).toHaveCount(1);
});

test('the curl commands that the console shows run as they are', async ({ page }) => {
  const made = await page.request.post('/api/v1/tokens', {
    data: { name: `curl-${Date.now()}`, scopes: ['read', 'write'], expires_in_days: 1, reason: 'test' },
  });
  expect(made.status(), await made.text()).toBe(201);
  const { secret, token } = (await made.json()) as { secret: string; token: { id: number } };
  await page.goto(`/buckets/${bucket}/use`);
  for (const [tab, answer] of [['curl: live state', { present: true, revision: 1 }], ['curl: try', { outcome: 'granted', app: 'checkout' }]] as const) {
    await page.getByRole('tab', { name: tab }).click();
    const command = (await page.getByRole('region', { name: tab }).textContent()) ?? '';
    const { stdout } = await run('bash', ['-c', command], { env: { ...process.env, HEADGATE_TOKEN: secret } });
    expect(JSON.parse(stdout), command).toMatchObject(answer);
  }
  await page.request.delete(`/api/v1/tokens/${token.id}`);
});

test('a bucket is switched off after its traffic was shown, with a reason, and on again', async ({ page }) => {
  await page.goto(`/buckets/${bucket}/settings`);
  await expect(page.getByTestId('affected')).toContainText('checkout');
  for (const [action, mode] of [['Switch off', 'Off'], ['Switch on', 'Enforce']] as const) {
    await page.getByRole('button', { name: action }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('for a test');
    await dialog.getByRole('button', { name: action }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(page.getByRole('main').getByText(mode, { exact: true }).first()).toBeVisible();
  }
});

test('the list hides columns, remembers it, and hands out a file under its filters', async ({ page }) => {
  await page.goto(`/buckets?search=${bucket}`);
  await expect(page.getByRole('columnheader', { name: 'Owners' })).toBeVisible();
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menu').getByText('Owners').click();
  await page.keyboard.press('Escape');
  await page.reload();
  await expect(page.getByRole('link', { name: bucket })).toBeVisible();
  await expect(page.getByRole('columnheader', { name: 'Owners' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Export' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menu').getByText('As CSV').click();
  const stream = await (await download).createReadStream();
  let text = '';
  for await (const part of stream) text += String(part);
  expect(text.trim().split('\n')).toHaveLength(3); // the names of the columns, this bucket, and that the file is whole
  expect(text).toContain(bucket);
});

test('people keep their own profile: name, zone, password, sessions', async ({ page, playwright, baseURL }) => {
  // Somebody of their own: ending all sessions of a login that other tests use would end those tests.
  const person = { name: `profile-${Date.now()}`, password: 'a password of a test' };
  const other = await playwright.request.newContext({ baseURL: baseURL ?? '' });
  await login(other, 'admin');
  const made = await other.post('/api/v1/users', { data: { ...person, display_name: 'Olivia', role: 'member' } });
  expect(made.status(), await made.text()).toBe(201);
  for (const request of [other, page.request]) {
    expect((await request.post('/api/v1/auth/login', { data: person })).status()).toBe(200);
  }
  await page.goto('/profile');
  await page.getByText('UTC', { exact: true }).click();
  await expect(page.getByText(/It is now .* UTC\./)).toBeVisible();
  await page.getByRole('textbox', { name: 'Display name' }).fill('Olivia <b>Ö</b> 🪣');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Your name was saved.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Account of Olivia <b>Ö</b> 🪣' })).toBeVisible();

  await page.getByRole('textbox', { name: 'Current password' }).fill('not my password');
  await page.getByRole('textbox', { name: /^New password/ }).first().fill('a-password-of-a-test');
  await page.getByRole('textbox', { name: 'New password again' }).fill('a-password-of-a-test');
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByText('is not the current password')).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Current password' })).toBeFocused();

  await expect(page.getByText('This session')).toBeVisible();
  await page.getByRole('button', { name: 'End all others' }).click();
  await expect(page.getByText(/other sessions? ha(s|ve) ended/)).toBeVisible();
  expect((await other.get('/api/v1/buckets')).status()).toBe(401);
  await other.dispose();
});

test('pages that a role may not enter are absent from the navigation, and closed', async ({ page }) => {
  await page.goto('/system');
  await expect(page.getByRole('heading', { name: 'You don’t have access to this page' })).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Main' }).getByRole('link')).toHaveText(['Overview', 'Buckets', 'Apps', 'API tokens']);
  await login(page.request, 'auditor');
  await page.goto('/system');
  await expect(page.getByRole('heading', { level: 2, name: 'Redis', exact: true })).toBeVisible();
});
