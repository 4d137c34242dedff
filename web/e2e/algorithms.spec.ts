import { expect, test, type Page } from '@playwright/test';
import { logins } from './env';
import { Load } from './load';
import { login } from './login';

// Other ways of counting than the token bucket: chosen in the form, told in their own words, and warned of in an edit.

const names: string[] = [];

function newName(kind: string): string {
  const name = `${kind}-${Date.now()}`;
  names.push(name);
  return name;
}

const textbox = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });

async function create(page: Page, name: string, algorithm: RegExp, numbers: Record<string, string>): Promise<void> {
  await page.goto('/create/bucket');
  await textbox(page, 'Name').fill(name);
  await page.getByRole('radio', { name: algorithm }).check();
  await expect(textbox(page, 'Rate')).toHaveCount(0);
  for (const [field, value] of Object.entries(numbers)) await textbox(page, field).fill(value);
  await page.getByRole('radio', { name: /^Shared/ }).check();
  await page.getByRole('combobox', { name: 'Apps' }).click();
  await page.getByRole('option', { name: 'checkout' }).click();
  await page.keyboard.press('Escape');
  await textbox(page, 'Reason').fill('a test');
  await page.getByRole('button', { name: 'Create bucket' }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  await expect(page.locator('[data-sync=synced]')).toBeVisible();
}

test.beforeEach(({ page }) => login(page.request, 'owner'));

test.afterEach(async ({ page }) => {
  for (const name of names.splice(0)) {
    const answer = await page.request.get(`/api/v1/buckets/${name}`);
    if (answer.ok()) await page.request.delete(`/api/v1/buckets/${name}?reason=done`, { headers: { 'If-Match': answer.headers().etag ?? '' } });
  }
});

test('a log grants exactly its limit, and the page tells what is left of it', async ({ page }) => {
  const name = newName('log');
  await create(page, name, /^Sliding log/, { 'Permits per period': '20', Per: '3000' });
  await expect(page.getByText('20 in any 50 min · Revision 1')).toBeVisible();
  await expect(page.getByText('Permits left in this window')).toBeVisible();
  await expect(page.getByTestId('permits-now')).toHaveText('20');
  const load = new Load('checkout', name, 50, '3s');
  try {
    await expect(page.getByTestId('permits-now')).toHaveText('0');
    await expect.poll(() => load.seconds.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(2);
    expect(load.seconds.reduce((sum, second) => sum + second.granted, 0)).toBe(20);
  } finally {
    load.stop();
  }
});

test('slots are named as such, in the form, on the page, in the list and in the code', async ({ page }) => {
  const name = newName('slots');
  await create(page, name, /^Concurrency/, { Slots: '4' });
  await expect(page.getByText('4 at a time, lease 30 s · Revision 1')).toBeVisible();
  await expect(page.getByText('Slots in use')).toBeVisible();
  await expect(page.getByTestId('permits-now')).toHaveText('0');
  await page.getByRole('tab', { name: 'Definition' }).click();
  await expect(page.getByRole('term').filter({ hasText: 'Lease time' })).toBeVisible();
  await expect(page.getByRole('term').filter({ hasText: 'Rate' })).toHaveCount(0);
  await page.getByRole('tab', { name: 'Use it' }).click();
  await expect(page.getByText('limits.Enter(ctx')).toBeVisible();
  await page.goto(`/buckets?search=${name}`);
  await expect(page.getByRole('row').filter({ hasText: name })).toContainText('4 at a time, lease 30 s');
  await expect(page.getByRole('row').filter({ hasText: name })).toContainText('Concurrency');
});

test('an edit that starts the counts anew or makes callers misuse is warned of before the save', async ({ page }) => {
  const name = newName('turned');
  const definition = { apps: ['checkout'], owners: [logins().owner.name], max_permits: 100, rate: 50, partition: 'shared', reason: 'test' };
  const made = await page.request.post('/api/v1/buckets', { data: { ...definition, name } });
  expect(made.status(), await made.text()).toBe(201);
  await page.goto(`/buckets/${name}/edit`);
  await page.getByRole('radio', { name: /^Concurrency/ }).check();
  await page.getByRole('radio', { name: /^Per key/ }).check();
  await textbox(page, 'Shards').fill('8');
  await page.getByRole('button', { name: 'Review changes' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('starts the counts over')).toBeVisible();
  await expect(dialog.getByText('will have to hand a key')).toBeVisible();
  await expect(dialog.getByText('Acquire is misuse on a concurrency bucket')).toBeVisible();
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('exports are counted at once now');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('100 at a time, lease 30 s · Revision 2')).toBeVisible();
  const saved = (await (await page.request.get(`/api/v1/buckets/${name}`)).json()) as object;
  expect(saved).toMatchObject({ algorithm: 'concurrency', rate: 0, period_ms: 30_000, partition: 'key', shards: 8, sync: { state: 'synced' } });
});
