import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test, type BrowserContext, type Page } from '@playwright/test';
import { logins, type Who } from './env';
import { login } from './login';

// What holds for the dialogs that change something, each told of every one: it is in the URL, it does not close over what was
// typed, and its request can be had as a command; and that of some of them the command does what the dialog does.

const run = promisify(execFile);
const stamp = Date.now();
const bucket = `asks-${stamp}`;
const hook = `hook-${stamp}`;
const pages: Partial<Record<Who, Page>> = {};
const contexts: BrowserContext[] = [];

const definition = () => ({ apps: ['checkout'], owners: [logins().owner.name], max_permits: 100, rate: 50, partition: 'shared', reason: 'test' });
const on = (who: Who) => pages[who]!;

test.beforeAll(async ({ browser, baseURL }) => {
  for (const who of ['owner', 'admin'] as const) {
    const context = await browser.newContext({ baseURL: baseURL ?? '', locale: 'en-US', permissions: ['clipboard-read', 'clipboard-write'] });
    await login(context.request, who);
    contexts.push(context);
    pages[who] = await context.newPage();
  }
  const made = await on('owner').request.post('/api/v1/buckets', { data: { ...definition(), name: bucket } });
  expect(made.status(), await made.text()).toBe(201);
  const edited = await on('owner').request.put(`/api/v1/buckets/${bucket}`, { headers: { 'If-Match': '"1"' }, data: { ...definition(), rate: 60 } });
  expect(edited.status(), await edited.text()).toBe(200);
  const rules = await on('owner').request.put(`/api/v1/buckets/${bucket}/alert-rules`, {
    headers: { 'If-Match': '"1"' }, data: { rules: [{ kind: 'limited_share', percent: 70, minutes: 9 }] },
  });
  expect(rules.status(), await rules.text()).toBe(200);
  const added = await on('admin').request.post('/api/v1/webhooks', { data: { name: hook, url: 'https://example.com/x', enabled: false } });
  expect(added.status(), await added.text()).toBe(201);
});

test.afterAll(async () => {
  await on('admin').request.delete(`/api/v1/webhooks/${hook}?reason=done`, { headers: { 'If-Match': '"1"' } });
  const now = await on('admin').request.get(`/api/v1/buckets/${bucket}`);
  await on('admin').request.delete(`/api/v1/buckets/${bucket}?reason=done`, { headers: { 'If-Match': now.headers().etag ?? '' } });
  for (const context of contexts) await context.close();
});

/** The command that the page puts onto the clipboard. */
async function copied(page: Page): Promise<string> {
  const read = () => page.evaluate(() => navigator.clipboard.readText());
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await expect.poll(read).not.toBe('');
  return read();
}

interface Asking {
  who: Who;
  at: string;
  /** The button that opens it. */
  by: string;
  /** What stands in the URL meanwhile. */
  open: string;
  /** The input that is typed into. */
  field: string | RegExp;
  /** What its command has. */
  curl: RegExp;
}

const settings = `/buckets/${bucket}/settings`;
const rule = 'At least 70% of the requested permits are limited, for 9 min';
const asking: Asking[] = [
  { who: 'owner', at: settings, by: 'Add rule', open: 'rule%3Anew', field: /^Reason/, curl: /-X PUT .*If-Match: "2"[^]*"kind":"limited_share"[^]*"reason":"half a sentence"[^]*alert-rules'/ },
  { who: 'owner', at: settings, by: `Edit rule: ${rule}`, open: 'rule%3A', field: /^Reason/, curl: /-X PUT [^]*"percent":70[^]*alert-rules'/ },
  { who: 'owner', at: settings, by: `Remove rule: ${rule}`, open: 'remove-rule%3A', field: /^Reason/, curl: /-X PUT [^]*"rules":\[\][^]*alert-rules'/ },
  { who: 'owner', at: settings, by: 'Switch off', open: 'switch', field: 'Reason', curl: /-X PUT [^]*"mode":"off"[^]*"reason":"half a sentence"/ },
  { who: 'owner', at: settings, by: 'Delete this bucket', open: 'delete', field: 'Reason', curl: /-X DELETE -H 'If-Match: "2"'[^]*reason=half\+a\+sentence'/ },
  { who: 'owner', at: `/buckets/${bucket}/use`, by: 'Try…', open: 'try', field: /^Reason/, curl: /-X POST [^]*"permits":1[^]*\/try'/ },
  { who: 'owner', at: `/buckets/${bucket}/history`, by: 'Roll back to revision 1', open: 'roll-back%3A1', field: 'Reason', curl: /-X POST [^]*"revision":1[^]*\/rollback'/ },
  { who: 'admin', at: '/webhooks', by: 'Add webhook', open: 'new', field: 'Name', curl: /auth\/login[^]*-X POST [^]*"name":"half a sentence"[^]*\/webhooks'/ },
  { who: 'admin', at: `/webhooks/${hook}`, by: 'Edit', open: 'edit', field: /^Reason/, curl: /-X PUT [^]*If-Match: "1"[^]*\/webhooks\/hook-/ },
  { who: 'admin', at: `/webhooks/${hook}`, by: 'Deliver again', open: 'redeliver', field: /^Reason/, curl: /-X POST [^]*"from":\d+[^]*\/redeliver'/ },
  { who: 'admin', at: `/webhooks/${hook}`, by: 'Remove this webhook', open: 'delete', field: /^Reason/, curl: /-X DELETE [^]*\/webhooks\/hook-/ },
  { who: 'admin', at: '/system', by: 'Reconcile now', open: 'reconcile', field: 'Reason', curl: /-X POST [^]*"reason":"half a sentence"[^]*\/system\/reconcile'/ },
  { who: 'admin', at: '/system', by: 'Break the glass', open: 'break-glass', field: /^Reason/, curl: /-X POST [^]*"scope":"all"[^]*\/break-glass'/ },
];

for (const { who, at, by, open, field, curl } of asking) {
  test(`${at.replace(String(stamp), '…')}: “${by}” is in the URL, asks before it closes, and is had as curl`, async () => {
    const page = on(who);
    const dialog = page.getByRole('dialog').first();
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await page.goto(at);
    await page.getByRole('main').getByRole('button', { name: by, exact: true }).first().click();
    await expect(page).toHaveURL(new RegExp(`open=${open}`));
    await dialog.getByRole('textbox', { name: field }).fill('half a sentence');
    expect(await copied(page)).toMatch(curl);
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Stay here' }).click();
    await expect(question).toHaveCount(0); // it fades; asked again before it is gone, it is made anew under the next click
    await expect(dialog.getByRole('textbox', { name: field })).toHaveValue('half a sentence');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await question.getByRole('button', { name: 'Leave' }).click();
    await expect(page).not.toHaveURL(/open=/);
  });
}

test('a person is edited by the address alone, also one that the list does not show, and who is not there is said', async () => {
  const page = on('admin');
  const dialog = page.getByRole('dialog');
  const owner = logins().owner.name;
  const name = `Olivia ${stamp}`;
  await page.goto(`/people?search=nobody-of-this-name&open=edit%3A${owner}`);
  await expect(dialog.getByRole('heading')).toHaveText(`Edit ${owner}`);
  await dialog.getByRole('textbox', { name: 'Display name' }).fill(name);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  expect(await (await page.request.get(`/api/v1/users/${owner}`)).json()).toMatchObject({ display_name: name });
  await page.goto(`/people?search=nobody-of-this-name&open=password%3A${owner}`);
  await expect(dialog.getByRole('button', { name: 'Set password' })).toBeVisible();
  await page.goto('/people?open=edit%3Anot-there');
  await expect(dialog.getByRole('alert')).toHaveText('There is no user not-there.');
});

test('a deleted bucket is restored by the address alone, also one that the list does not show, and one that is not there is said', async () => {
  const page = on('owner');
  const dialog = page.getByRole('dialog');
  const name = `restored-${stamp}`;
  const made = await page.request.post('/api/v1/buckets', { data: { ...definition(), name } });
  expect(made.status(), await made.text()).toBe(201);
  const remove = async (etag: string) => (await page.request.delete(`/api/v1/buckets/${name}?reason=done`, { headers: { 'If-Match': etag } })).status();
  expect(await remove('"1"')).toBe(200);
  await page.goto(`/deleted?search=nothing-of-this-name&open=restore%3A${name}`);
  await expect(dialog.getByRole('textbox', { name: 'Reason' })).toBeFocused(); // though the dialog was there before its form
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('by its address');
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await expect(page).toHaveURL(new RegExp(`/buckets/${name}$`));
  expect(await remove('"3"')).toBe(200);
  await page.goto('/deleted?open=restore%3Anever-was');
  await expect(dialog.getByRole('alert')).toHaveText('There is no deleted bucket never-was that you may see.');
});

test('a token is revoked by the address alone, also one that the list does not show; one of others, or none, is not there', async () => {
  const made = await on('owner').request.post('/api/v1/tokens', { data: { name: `address-${stamp}`, scopes: ['read'], expires_in_days: 1 } });
  const { token } = (await made.json()) as { token: { id: number } };
  const page = on('admin');
  const dialog = page.getByRole('dialog');
  await page.goto(`/tokens?open=revoke%3A${token.id}`); // the list has one's own
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await expect(dialog).toHaveCount(0);
  await on('owner').goto(`/tokens?open=revoke%3A${token.id}`);
  await expect(on('owner').getByRole('dialog')).toContainText('This token has ended already');
  for (const id of ['999999999', 'what']) {
    await on('owner').goto(`/tokens?open=revoke%3A${id}`);
    await expect(on('owner').getByRole('dialog').getByRole('alert')).toHaveText('There is no such token that you may revoke.');
    await expect(on('owner').getByRole('dialog').getByRole('button', { name: 'Revoke' })).toHaveCount(0);
  }
});

const askWhy = (page: Page, question: Record<string, string>) =>
  page.goto(`/people?open=${encodeURIComponent(`why:${new URLSearchParams(question).toString()}`)}`);

test('of a disabled account it is said what it would lack or have if it were enabled', async () => {
  const page = on('admin');
  const name = `disabled-${stamp}`;
  const account = { display_name: name, role: 'auditor' };
  const made = await page.request.post('/api/v1/users', { data: { ...account, name, password: 'a password of a test' } });
  expect(made.status(), await made.text()).toBe(201);
  const disabled = await page.request.put(`/api/v1/users/${name}`, { headers: { 'If-Match': made.headers().etag ?? '' }, data: { ...account, disabled: true } });
  expect(disabled.status(), await disabled.text()).toBe(200);
  const answer = page.getByRole('dialog').getByRole('status');
  for (const [action, would] of [
    ['user.manage', 'Once the account is enabled, any of these would allow it'],
    ['audit.read', 'Each of these would allow it if the account were enabled'],
  ] as const) {
    await askWhy(page, { user: name, action });
    await expect(answer).toContainText('The account is disabled, so it can’t do anything.');
    await expect(answer).toContainText(would);
  }
});

test('a link that asks of what is not there says which part that is', async () => {
  const page = on('admin');
  const dialog = page.getByRole('dialog');
  const ask = (question: Record<string, string>) => askWhy(page, question);
  await ask({ user: 'sam', action: 'no.such', object: 'x' });
  await expect(dialog.getByRole('status')).toHaveText('There is no action no.such. Choose one from the list.');
  await ask({ user: 'sam', action: 'bucket.edit', object: 'never-was' });
  await expect(dialog.getByRole('status')).toHaveText('There is no user sam, or no bucket never-was.');
  await ask({ user: 'never-was', action: 'user.manage' });
  await expect(dialog.getByRole('status')).toHaveText('There is no user never-was.');
});

test('copied as curl, an edit of rules, a roll back and a deletion are made from a shell', async () => {
  const page = on('owner');
  const name = `by-shell-${stamp}`;
  const made = await page.request.post('/api/v1/buckets', { data: { ...definition(), name } });
  expect(made.status(), await made.text()).toBe(201);
  await page.request.put(`/api/v1/buckets/${name}`, { headers: { 'If-Match': '"1"' }, data: { ...definition(), rate: 60 } });
  const token = await page.request.post('/api/v1/tokens', { data: { name, scopes: ['read', 'write'], expires_in_days: 1 } });
  const { secret, token: { id } } = (await token.json()) as { secret: string; token: { id: number } };
  const shell = async (path: string, reason: string) => {
    await page.goto(path);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: /^Reason/ }).fill(reason);
    const command = await copied(page);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave' }).click();
    return run('bash', ['-c', command], { env: { ...process.env, HEADGATE_TOKEN: secret } });
  };
  const reason = `it's "told" & $HOME`;
  expect(JSON.parse((await shell(`/buckets/${name}/settings?open=rule%3Anew`, reason)).stdout)).toMatchObject({ revision: 2 });
  expect(JSON.parse((await shell(`/buckets/${name}/history?open=roll-back%3A1`, reason)).stdout)).toMatchObject({ rate: 50, revision: 3 });
  await shell(`/buckets/${name}/settings?open=delete`, reason);
  const gone = await page.request.get(`/api/v1/buckets/${name}`);
  expect(gone.status()).toBe(404);
  await on('admin').goto(`/audit?target=${name}`);
  await expect(on('admin').getByText(reason)).toHaveCount(3, { timeout: 30_000 });
  await page.request.delete(`/api/v1/tokens/${id}`);
});

test('rules that someone else changed meanwhile are shown beside the input, which can still be saved', async () => {
  const page = on('owner');
  await page.goto(`${settings}?open=rule%3Anew`);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Percent').fill('33');
  const other = await on('admin').request.put(`/api/v1/buckets/${bucket}/alert-rules`, {
    headers: { 'If-Match': '"2"' }, data: { rules: [{ kind: 'limited_share', percent: 44, minutes: 4 }] },
  });
  expect(other.status(), await other.text()).toBe(200);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByRole('alert')).toContainText('At least 44%');
  await dialog.getByRole('button', { name: 'Go on with mine' }).click();
  await dialog.getByLabel('Percent').fill('44');
  await dialog.getByLabel('Minutes').fill('4');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByText(/the same as/)).toBeVisible(); // the server's fault, at its input
  await dialog.getByLabel('Percent').fill('33');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toHaveCount(0);
  const section = page.getByRole('region', { name: 'Alerts' });
  await expect(section.getByText(/At least 44%/)).toBeVisible();
  await expect(section.getByText(/At least 33%/)).toBeVisible();
});

test('a bulk edit outlives the end of the session with what was picked; a reload begins anew', async ({ browser, baseURL }) => {
  const own = await browser.newContext({ baseURL: baseURL ?? '', locale: 'en-US' });
  await login(own.request, 'owner');
  const page = await own.newPage();
  const dialog = page.getByRole('dialog');
  await page.goto(`/buckets?search=${bucket}`);
  await page.getByRole('checkbox', { name: `Select ${bucket}`, exact: true }).click();
  await page.getByRole('region', { name: 'Selected buckets' }).getByRole('button', { name: 'Edit' }).click();
  await expect(page).toHaveURL(/open=bulk/);
  await dialog.getByLabel('Set labels').fill(`s=${stamp}`);
  await page.keyboard.press('Enter');
  await page.goBack();
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Stay here' }).click();
  await own.clearCookies();
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(page).toHaveURL(/\/login\?next=/);
  await page.locator('input[name=username]').fill(logins().owner.name);
  await page.locator('input[name=password]').fill(logins().owner.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(dialog).toContainText(`s=${stamp}`);
  await dialog.getByRole('button', { name: 'Review' }).click();
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('labelled');
  await dialog.getByRole('button', { name: 'Change 1 bucket' }).click();
  await expect(page.getByText('1 bucket changed and in force.')).toBeVisible();
  await expect(page).not.toHaveURL(/open=/);
  await page.goto(`/buckets?search=${bucket}&open=bulk`);
  await expect(page).not.toHaveURL(/open=/);
  await own.close();
});

test('a member who was picked but not added is asked about, and is had as curl', async () => {
  const page = on('admin');
  await page.goto('/apps/checkout');
  await page.getByRole('combobox', { name: 'Add a member' }).fill(logins().stranger.name);
  await page.getByRole('option', { name: logins().stranger.name }).click();
  expect(await copied(page)).toMatch(/-X PUT [^]*"role":"viewer"[^]*\/apps\/checkout\/members\/sam'/);
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Apps' }).click();
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Apps' })).toBeVisible();
});
