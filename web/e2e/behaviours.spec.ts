import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test, type Browser, type BrowserContext, type Locator, type Page } from '@playwright/test';
import { logins } from './env';
import { login } from './login';

// How the console behaves wherever one is in it: what holds for every form, list and record, each told once. The pages
// are shared, since each test leaves its page as it found it.

const run = promisify(execFile);
const stamp = Date.now();
const bucket = `behaves-${stamp}`;
const app = `app-${stamp}`;
const owner = () => logins().owner.name;

let context: BrowserContext;
let page: Page;
let admin: BrowserContext;

const definition = (over: object = {}) => ({
  apps: ['checkout'], owners: [owner()], max_permits: 100, rate: 50, partition: 'shared', reason: 'test', ...over,
});

async function entered(browser: Browser, baseURL: string | undefined, who: 'owner' | 'admin'): Promise<BrowserContext> {
  const made = await browser.newContext({ baseURL: baseURL ?? '', locale: 'en-US' });
  await login(made.request, who);
  return made;
}

test.beforeAll(async ({ browser, baseURL }) => {
  context = await entered(browser, baseURL, 'owner');
  admin = await entered(browser, baseURL, 'admin');
  page = await context.newPage();
  const made = await context.request.post('/api/v1/buckets', { data: { ...definition(), name: bucket } });
  expect(made.status(), await made.text()).toBe(201);
  const members = [{ user: owner(), role: 'owner' }, { user: logins().auditor.name, role: 'viewer' }];
  const registered = await admin.request.post('/api/v1/apps', { data: { name: app, description: '', members } });
  expect(registered.status(), await registered.text()).toBe(201);
});

test.afterAll(async () => {
  for (const [kind, name] of [['buckets', bucket], ['apps', app]] as const) {
    const now = await admin.request.get(`/api/v1/${kind}/${name}`);
    await admin.request.delete(`/api/v1/${kind}/${name}?reason=done`, { headers: { 'If-Match': now.headers().etag ?? '' } });
  }
  await context.close();
  await admin.close();
});

const dialog = (on: Page = page) => on.getByRole('dialog');
const question = (on: Page = page) => on.getByRole('dialog', { name: 'Leave without saving?' });

/** What the page puts onto the clipboard when the button is pressed. */
async function copied(on: Page, button: Locator): Promise<string> {
  await on.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await button.click();
  await expect(on.getByText('Copied.').last()).toBeVisible();
  return on.evaluate(() => navigator.clipboard.readText());
}

test('an open dialog is in the URL: a reload finds it open, and going back closes it', async () => {
  await page.goto(`/buckets/${bucket}/settings`);
  await page.getByRole('button', { name: 'Switch off' }).click();
  await expect(page).toHaveURL(/open=switch/);
  await page.reload();
  await expect(dialog()).toBeVisible();
  await page.goBack();
  await expect(dialog()).toHaveCount(0);
});

test('no dialog with input closes unasked, by Escape, by its buttons or by going back', async () => {
  await page.goto(`/buckets/${bucket}/settings`);
  await page.getByRole('button', { name: 'Switch off' }).click();
  const reason = dialog().getByRole('textbox', { name: 'Reason' });
  await reason.fill('half a sentence');
  for (const leave of [() => page.keyboard.press('Escape'), () => dialog().getByRole('button', { name: 'Cancel' }).click(), () => page.goBack()]) {
    await leave();
    await question().getByRole('button', { name: 'Stay here' }).click();
    await expect(question()).toHaveCount(0);
    await expect(reason).toHaveValue('half a sentence');
  }
  await page.keyboard.press('Escape');
  await question().getByRole('button', { name: 'Leave' }).click();
  await expect(dialog()).toHaveCount(0);
});

test('a session that ends amid a form leads back to it after the login, with the input but no password', async ({ browser, baseURL }) => {
  const own = await entered(browser, baseURL, 'admin');
  const form = await own.newPage();
  await form.goto('/people?open=new');
  await form.getByRole('textbox', { name: 'User name' }).fill('half-typed');
  await form.getByRole('textbox', { name: /First password/ }).fill('a password nobody keeps');
  await own.clearCookies();
  await dialog(form).getByRole('button', { name: 'Add person' }).click();
  await expect(form).toHaveURL(/\/login\?next=/);
  expect(await form.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('nobody keeps');
  await form.locator('input[name=username]').fill(logins().admin.name);
  await form.locator('input[name=password]').fill(logins().admin.password);
  await form.getByRole('button', { name: 'Log in' }).click();
  await expect(dialog(form).getByRole('textbox', { name: 'User name' })).toHaveValue('half-typed');
  await expect(dialog(form).getByRole('textbox', { name: /First password/ })).toHaveValue('');
  await expect(form.getByText('What you had typed before the session ended has been restored.')).toBeVisible();
  await own.close();
});

test('an edit and its reason outlive the end of the session and a stale save', async ({ browser, baseURL }) => {
  const own = await entered(browser, baseURL, 'owner');
  const form = await own.newPage();
  await form.goto(`/buckets/${bucket}/edit`);
  await form.getByRole('textbox', { name: 'Rate' }).fill('25');
  await form.getByRole('button', { name: 'Review changes' }).click();
  await dialog(form).getByRole('textbox', { name: 'Reason' }).fill('A reason that stays');
  await own.clearCookies();
  await dialog(form).getByRole('button', { name: 'Save' }).click();
  await expect(form).toHaveURL(/\/login\?next=/);
  const changed = await admin.request.put(`/api/v1/buckets/${bucket}`, { headers: { 'If-Match': '"1"' }, data: definition({ max_permits: 200 }) });
  expect(changed.status(), await changed.text()).toBe(200);
  await form.locator('input[name=username]').fill(owner());
  await form.locator('input[name=password]').fill(logins().owner.password);
  await form.getByRole('button', { name: 'Log in' }).click();
  await expect(form.getByText('changed this bucket while you were editing (revision 2)')).toBeVisible();
  await form.getByRole('button', { name: 'Go on with my changes' }).click();
  await expect(form.getByRole('textbox', { name: 'Rate' })).toHaveValue('25');
  await form.getByRole('button', { name: 'Review changes' }).click();
  await expect(dialog(form).getByRole('textbox', { name: 'Reason' })).toHaveValue('A reason that stays');
  await dialog(form).getByRole('button', { name: 'Save' }).click();
  await expect(form.getByText('25 per 1 s, burst 200 · Revision 3')).toBeVisible();
  await own.close();
});

test('a banner tells the reader of a bucket that someone else changed it', async () => {
  await page.goto(`/buckets/${bucket}/definition`);
  await expect(page.getByRole('heading', { level: 1, name: bucket })).toBeVisible();
  const before = await admin.request.get(`/api/v1/buckets/${bucket}`);
  await admin.request.put(`/api/v1/buckets/${bucket}`, { headers: { 'If-Match': before.headers().etag ?? '' }, data: definition({ rate: 60 }) });
  await expect(page.getByText(`${logins().admin.name} changed this while you were looking`)).toBeVisible({ timeout: 30_000 });
  await page.getByRole('link', { name: 'See what changed' }).click();
  await expect(page).toHaveURL(new RegExp(`/buckets/${bucket}/history$`));
});

test('members change at once, a refusal takes it back, and Undo brings the old state again', async () => {
  const user = logins().auditor.name;
  await page.goto(`/apps/${app}`);
  const row = page.getByRole('row').filter({ hasText: user });
  await page.route(`**/members/${user}`, (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"code":"unavailable","request_id":"req-of-a-test"}' }));
  await row.getByRole('button', { name: `Remove ${user}` }).click();
  await expect(page.getByText('req-of-a-test')).toBeVisible(); // an error tells where the log has more
  await expect(row).toBeVisible();
  await page.unroute(`**/members/${user}`);
  await row.getByRole('button', { name: `Remove ${user}` }).click();
  await expect(row).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(row).toBeVisible();
  await expect.poll(async () => JSON.stringify(await (await admin.request.get(`/api/v1/apps/${app}`)).json())).toContain(user);
});

test('what one may not do is visible, says what is missing, and does nothing', async ({ browser, baseURL }) => {
  const own = await browser.newContext({ baseURL: baseURL ?? '', locale: 'en-US' });
  await login(own.request, 'auditor');
  const people = await own.newPage();
  await people.goto('/people');
  const edit = people.getByRole('button', { name: `Edit ${owner()}` });
  await expect(edit).toHaveAttribute('aria-disabled', 'true');
  await expect(edit).toHaveAccessibleDescription(/permission user\.manage/);
  await edit.focus();
  await people.keyboard.press('Enter');
  await expect(dialog(people)).toHaveCount(0);
  await people.goto(`/apps/${app}`);
  await expect(people.getByRole('button', { name: `Remove ${owner()}` })).toHaveAccessibleDescription(/permission app\.manage/);
  await expect(people.getByRole('button', { name: 'Add a member' })).toHaveAccessibleDescription(/permission app\.manage/);
  await own.close();
});

test('a form copied as curl makes the same request from a shell', async () => {
  const name = `curl-${stamp}`;
  const made = await context.request.post('/api/v1/tokens', { data: { name, scopes: ['read', 'write'], expires_in_days: 1 } });
  const { secret, token } = (await made.json()) as { secret: string; token: { id: number } };
  await page.goto(`/create/bucket?from=${bucket}`);
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('textbox', { name: 'Description' }).fill(`It's "quoted" & $HOME \\ \`id\` 🪣`);
  await page.getByRole('textbox', { name: 'Reason' }).fill("the owner's own");
  const command = await copied(page, page.getByRole('button', { name: 'Copy as curl' }));
  const { stdout } = await run('bash', ['-c', command], { env: { ...process.env, HEADGATE_TOKEN: secret } });
  expect(JSON.parse(stdout), command).toMatchObject({ name, rate: 60, description: `It's "quoted" & $HOME \\ \`id\` 🪣` });
  await context.request.delete(`/api/v1/buckets/${name}?reason=done`, { headers: { 'If-Match': '"1"' } });
  await context.request.delete(`/api/v1/tokens/${token.id}`);
  await page.getByRole('link', { name: 'Cancel' }).click();
  await question().getByRole('button', { name: 'Leave' }).click();
});

test('a form that no token may send is copied with a login in front, and without its password', async () => {
  const form = await admin.newPage();
  const name = `made-by-curl-${stamp}`;
  await form.goto('/people?open=new');
  await form.getByRole('textbox', { name: 'User name' }).fill(name);
  await form.getByRole('textbox', { name: /First password/ }).fill('not in the command');
  const command = await copied(form, dialog(form).getByRole('button', { name: 'Copy as curl' }));
  expect(command).not.toContain('not in the command');
  const env = { ...process.env, HEADGATE_PASSWORD: logins().admin.password, NEW_USER_PASSWORD: 'a password of a test' };
  const { stdout } = await run('bash', ['-c', `cd "$(mktemp -d)" && ${command}`], { env });
  expect(JSON.parse(stdout), command).toMatchObject({ name, role: 'member' });
  const entry = await form.request.post('/api/v1/auth/login', { data: { name, password: 'a password of a test' } });
  expect(entry.status()).toBe(200);
  await login(admin.request, 'admin');
  await form.close({ runBeforeUnload: false });
});

test('a bucket waits for its first call and tells when it came', async () => {
  const name = `first-${stamp}`;
  const made = await context.request.post('/api/v1/buckets', { data: { ...definition(), name } });
  const token = (await (await context.request.post('/api/v1/tokens', { data: { name, scopes: ['read', 'write'], expires_in_days: 1 } })).json()) as { secret: string };
  await page.goto(`/buckets/${name}`);
  await expect(page.getByText('Waiting for the first call')).toBeVisible();
  const command = (await page.getByRole('region', { name: 'A first call' }).textContent()) ?? '';
  await run('bash', ['-c', command], { env: { ...process.env, HEADGATE_TOKEN: token.secret } });
  await expect(page.getByText('The first call was received')).toBeVisible({ timeout: 30_000 });
  await context.request.delete(`/api/v1/buckets/${name}?reason=done`, { headers: { 'If-Match': made.headers().etag ?? '' } });
});

test('a server that is slow or fails is told of beside the data, and it goes by itself', async () => {
  await page.goto(`/buckets/${bucket}/definition`);
  await expect(page.getByRole('heading', { level: 1, name: bucket })).toBeVisible();
  let answer: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route(`**/api/v1/buckets/${bucket}`, async (route) => {
    await held;
    await route.fulfill({ status: 500, contentType: 'application/problem+json', body: '{"code":"internal","request_id":"req-of-a-failure"}' });
  });
  await expect(page.getByText('The server is slow to answer')).toBeVisible({ timeout: 40_000 });
  answer();
  await expect(page.getByText('This page could not be refreshed')).toBeVisible({ timeout: 40_000 });
  await expect(page.getByText('req-of-a-failure')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1, name: bucket })).toBeVisible();
  await page.unroute(`**/api/v1/buckets/${bucket}`);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByText('This page could not be refreshed')).toHaveCount(0);
});

test('texts of any script, markup and length stand as they were written, and stay in their place', async () => {
  const name = `n${stamp}`.padEnd(128, 'x');
  const text = `<img src=x onerror="alert(1)"> 🪣 שלום عربي ${'ü'.repeat(200)}`;
  const data = { ...definition({ description: text, labels: { team: 'قسم 🪣 <b>' }, reason: text }), name };
  const made = await context.request.post('/api/v1/buckets', { data });
  expect(made.status(), await made.text()).toBe(201);
  await page.setViewportSize({ width: 360, height: 740 });
  for (const path of [`/buckets?search=${name}`, `/buckets/${name}`, `/buckets/${name}/definition`, `/buckets/${name}/history`, `/buckets/${name}/settings?open=delete`, '/overview']) {
    await page.goto(path);
    await expect(page.getByText(name).first()).toBeVisible();
    expect(await page.locator('main img').count(), path).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), path).toBeLessThanOrEqual(0);
  }
  await page.goto(`/buckets/${name}/history`);
  await expect(page.getByText(text).first()).toBeVisible();
  await page.setViewportSize({ width: 1280, height: 800 });
  await context.request.delete(`/api/v1/buckets/${name}?reason=done`, { headers: { 'If-Match': made.headers().etag ?? '' } });
});

test('the value of a label may hold spaces', async () => {
  await page.goto(`/create/bucket?from=${bucket}`);
  await page.getByRole('combobox', { name: 'Labels' }).click();
  await page.keyboard.type('team=payments and refunds,');
  await expect(page.getByText('team=payments and refunds', { exact: true })).toBeVisible();
  await page.getByRole('link', { name: 'Cancel' }).click();
  await question().getByRole('button', { name: 'Leave' }).click();
});

/** Presses Tab until the element has the focus. */
async function tabTo(target: Locator): Promise<void> {
  await target.waitFor();
  for (let press = 0; press < 80; press++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${String(target)}`);
}

test('the keyboard alone makes, edits and deletes a bucket', async () => {
  const name = `keys-${stamp}`;
  const write = async (field: string | RegExp, text: string, within: Page | Locator = page) => {
    await tabTo(within.getByRole('textbox', { name: field }));
    await page.keyboard.press('Control+a');
    await page.keyboard.type(text);
  };
  const press = async (button: string, within: Page | Locator = page) => {
    await tabTo(within.getByRole('button', { name: button, exact: true }));
    await page.keyboard.press('Enter');
  };
  await page.goto('/create/bucket');
  await write('Name', name);
  await write('Rate', '5');
  await write('Burst (max permits)', '10');
  await tabTo(page.getByRole('radio', { name: /^Shared/ }));
  await page.keyboard.press('Space');
  await tabTo(page.getByRole('combobox', { name: 'Apps' }));
  await page.keyboard.type('checkout');
  await page.getByRole('option', { name: 'checkout' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await write('Reason', 'by keys');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();

  await tabTo(page.getByRole('link', { name: 'Edit', exact: true }));
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: `Edit ${name}` })).toBeVisible();
  await write('Rate', '6');
  await press('Review changes');
  await expect(dialog().getByRole('textbox', { name: 'Reason' })).toBeFocused();
  await page.keyboard.type('more by keys');
  await press('Save', dialog());
  await expect(page.getByText('6 per 1 s, burst 10 · Revision 2')).toBeVisible();

  await tabTo(page.getByRole('tab', { name: 'Overview' }));
  for (let tab = 0; tab < 4; tab++) await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await press('Delete this bucket');
  await write('Reason', 'over', dialog());
  await write(/^Type/, name, dialog());
  await page.keyboard.press('Enter');
  await expect(page.getByText(`${name} was deleted.`)).toBeVisible();
});
