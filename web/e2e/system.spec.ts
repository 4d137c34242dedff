import { expect, test, type BrowserContext, type Page } from '@playwright/test';
import { databaseSwitch, logins } from './env';
import { foreignWords } from './foreign-words';
import { login } from './login';
import { speak } from './looks';
import { tellRedis } from './redis';
import { sample } from './samples';

// An admin sees how everything stands, also while Redis does not answer, has it compared, and asks who may do what.

const silence = 12_000; // ms; longer than any page rests between two questions and the server waits for an answer

/** Makes Redis answer nobody for a while; it goes on by itself. */
const silenceRedis = () => tellRedis(`CLIENT PAUSE ${silence} ALL`);

const shown = ['/system', '/overview', '/buckets', `/buckets/${sample}`, '/apps/checkout', '/alerts'];

/** Pages that stand open in Chinese meanwhile. */
async function inChinese(context: BrowserContext, paths = shown): Promise<Page[]> {
  const pages: Page[] = [];
  for (const path of paths) {
    const page = await context.newPage();
    await speak(page, 'zh-CN');
    await page.goto(path);
    await expect(page.getByRole('heading').first()).toBeVisible({ timeout: 30_000 });
    pages.push(page);
  }
  return pages;
}

/** What of these pages is English, with the page. */
async function english(pages: Page[]): Promise<string[]> {
  const found = await Promise.all(pages.map(async (page) => (await foreignWords(page)).map((text) => `${new URL(page.url()).pathname}: ${text}`)));
  return found.flat();
}

test('the System page shows the parts, tells that Redis is away, and recovers', async ({ page, browser }) => {
  const theirs = await browser.newContext(); // a language is that of all tabs
  await login(theirs.request, 'admin');
  await login(page.request, 'admin');
  await page.goto('/system');
  const redis = page.getByRole('region', { name: 'Redis', exact: true });
  await expect(redis.getByText('Healthy', { exact: true })).toBeVisible();
  await expect(redis.getByText(/Answered in [\d.,]+ ms/)).toBeVisible();
  const servers = page.getByRole('region', { name: 'Headgate servers' });
  await expect(servers.getByRole('row').filter({ hasText: '(answers you)' }).getByText('Running', { exact: true })).toBeVisible();

  const chinese = await inChinese(theirs);
  await silenceRedis();
  await expect(redis.getByText('Not responding', { exact: true })).toBeVisible({ timeout: 20_000 });
  await expect(servers.getByText('Running', { exact: true }).first()).toBeVisible();
  await expect(chinese[0]!.getByText('没有响应', { exact: true })).toBeVisible({ timeout: 20_000 });
  const said = await english(chinese);
  await expect(async () => {
    said.push(...(await english(chinese)));
    await expect(redis.getByText('Healthy', { exact: true })).toBeVisible({ timeout: 250 });
  }).toPass({ timeout: 60_000 });
  expect(said, 'English on a page in Chinese').toEqual([]);
  await theirs.close();

  const sync = page.getByRole('region', { name: 'Definitions in Redis' });
  await expect(sync.getByText('In sync', { exact: true })).toBeVisible({ timeout: 60_000 });
  await sync.getByRole('button', { name: 'Reconcile now' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Reconcile now' }).click();
  await expect(dialog.getByText('Say why; it stays in the history.')).toBeVisible();
  await dialog.getByLabel('Reason').fill('after the outage');
  await dialog.getByRole('button', { name: 'Reconcile now' }).click();
  await expect(page.getByText(/^Everything was compared/)).toBeVisible({ timeout: 30_000 });
  await expect(dialog).toBeHidden();
});

test('while the database is away the System page says that nothing is known, also to who comes then, and recovers', async ({ page, request, browser }) => {
  // Few pages, and a browser of their own: one has six connections to a server, and those that wait for the database stay taken.
  const theirs = await browser.newContext();
  await login(theirs.request, 'admin');
  const few = ['/system', '/buckets'];
  await login(page.request, 'admin');
  await page.goto('/system');
  const database = page.getByRole('region', { name: 'Database', exact: true });
  await expect(database.getByText('Healthy', { exact: true })).toBeVisible();
  const chinese = await inChinese(theirs, few);
  for (const one of chinese) await one.waitForLoadState('networkidle'); // what was never there is not refreshed
  await request.post(`${databaseSwitch()}/away`);
  try {
    await expect(page.getByText('This page could not be refreshed')).toBeVisible({ timeout: 30_000 });
    await expect(database.getByText('Currently unknown', { exact: true })).toBeVisible();
    await expect(page.getByText('Healthy', { exact: true })).toHaveCount(0);
    const other = await page.context().newPage();
    await other.goto('/system');
    await expect(other.getByText('A part that is needed does not answer at the moment.')).toBeVisible({ timeout: 30_000 });
    await expect(other.getByRole('button', { name: 'Try again' })).toBeVisible();
    await other.close();
    for (const one of chinese) await expect(one.getByText('本页未能刷新')).toBeVisible({ timeout: 40_000 });
    const late = await inChinese(theirs, few);
    for (const one of late) await expect(one.getByText('所需的组件暂时没有响应').first()).toBeVisible({ timeout: 30_000 });
    expect(await english([...chinese, ...late]), 'English on a page in Chinese').toEqual([]);
  } finally {
    await request.post(`${databaseSwitch()}/back`);
  }
  await expect(database.getByText('Healthy', { exact: true })).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText('This page could not be refreshed')).toHaveCount(0);
  await theirs.close();
});

test('auditors see the System page but do not reconcile, and ask who may do what', async ({ page, request }) => {
  await login(page.request, 'auditor');
  await page.goto('/system');
  await expect(page.getByRole('button', { name: 'Reconcile now' })).toHaveAttribute('aria-disabled', 'true');

  await page.goto('/people');
  await page.getByRole('button', { name: 'Who can do what' }).click();
  const dialog = page.getByRole('dialog');
  const choose = async (label: string, text: string, option: string | RegExp) => {
    await dialog.getByRole('combobox', { name: label }).fill(text);
    await page.getByRole('option', { name: option }).click();
  };
  await choose('User', logins().owner.name, logins().owner.name);
  await choose('Action', 'Reconcile', /^Reconcile now/);
  await expect(dialog.getByText('No', { exact: true })).toBeVisible();
  await expect(dialog.getByText('The role Admin. A platform admin can grant it.')).toBeVisible();
  await choose('Action', 'Manage an app', /^Manage an app/);
  await choose('App', 'checkout', 'checkout');
  await expect(dialog.getByText('Yes', { exact: true })).toBeVisible();
  await expect(dialog.getByText('Owner of an app: checkout')).toBeVisible();

  // The question is in the URL: whoever is sent it sees the answer, and the way back leads out of the dialog at once.
  await page.reload();
  await expect(dialog.getByRole('combobox', { name: 'User' })).toHaveValue(logins().owner.name);
  await expect(dialog.getByText('Owner of an app: checkout')).toBeVisible();
  await page.goBack();
  await expect(dialog).toHaveCount(0);
  await page.goForward();
  await expect(dialog.getByText('Owner of an app: checkout')).toBeVisible();

  const gone = `gone-${Date.now()}`;
  await login(request, 'admin');
  const made = await request.post('/api/v1/users', { data: { name: gone, display_name: gone, role: 'admin', password: 'a password of a test' } });
  const off = await request.put(`/api/v1/users/${gone}`, { headers: { 'If-Match': made.headers().etag ?? '' }, data: { display_name: gone, role: 'admin', disabled: true } });
  expect(off.status(), await off.text()).toBe(200);
  await choose('User', gone, `${gone} (disabled)`);
  await expect(dialog.getByText('The account is disabled, so it can’t do anything.')).toBeVisible();
});
