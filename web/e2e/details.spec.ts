import { expect, test, type Locator } from '@playwright/test';
import { login } from './login';
import { long, sample } from './samples';

// What a person notices only by working with the console: where the focus goes, and what stands where.

for (const [path, label] of [
  ['/buckets', 'Search buckets'],
  ['/apps', 'Search apps'],
  ['/deleted', 'Search deleted buckets'],
] as const) {
  test(`clearing a search that matched nothing keeps the field and the focus: ${path}`, async ({ page }) => {
    await login(page.request, 'owner');
    await page.goto(`${path}?search=nothing-like-this`);
    const field = page.getByRole('searchbox', { name: label });
    await expect(page.getByRole('button', { name: 'Clear search and filters' })).toBeVisible();
    await field.fill('');
    await expect(page.getByRole('rowheader').first()).toBeVisible();
    await expect(field).toBeFocused();

    await field.fill('nothing-like-this');
    await page.getByRole('button', { name: 'Clear search and filters' }).click();
    await expect(page.getByRole('rowheader').first()).toBeVisible();
    await expect(field).toBeFocused();
  });
}

test('nobody without a bucket loses the filters that were used', async ({ page }) => {
  await login(page.request, 'stranger');
  await page.goto('/apps?search=nothing-like-this');
  const field = page.getByRole('searchbox', { name: 'Search apps' });
  await field.fill('');
  await expect(field).toBeFocused();
  await expect(page).not.toHaveURL(/search/);
  await expect(field).toBeFocused();
});

test('a name of 128 characters takes two lines of its row and of its page, and is told whole', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await login(page.request, 'owner');
  await page.goto('/buckets?search=e2e-long');
  const link = page.getByRole('link', { name: long, exact: true });
  await expect(link).toHaveAttribute('title', long);
  expect(await lines(link)).toBe(2);

  await link.click();
  const heading = page.getByRole('heading', { level: 1, name: long, exact: true });
  await expect(heading).toBeVisible();
  expect(await lines(heading)).toBe(2);
  await expect(page.getByRole('button', { name: `Copy: ${long}` })).toBeVisible();
});

test('the language that is chosen in one tab is spoken in all, and what was typed there stays', async ({ page, context }) => {
  await login(page.request, 'owner');
  await page.goto('/create/bucket');
  const name = page.getByRole('textbox', { name: 'Name' });
  await name.fill('half-typed');

  const other = await context.newPage();
  await other.goto('/overview');
  await other.getByRole('button', { name: 'Language' }).click();
  await other.getByRole('menuitemradio', { name: '简体中文' }).click();
  await expect(other.getByRole('heading', { level: 1, name: '概览' })).toBeVisible();

  await expect(page.getByRole('heading', { level: 1, name: '创建限流桶' })).toBeVisible();
  await expect(page.getByRole('textbox', { name: '名称' })).toHaveValue('half-typed');
});

test('the form of an alert rule begins at its first choice', async ({ page }) => {
  await login(page.request, 'owner');
  await page.goto(`/buckets/${sample}/settings`);
  await page.getByRole('button', { name: 'Add rule' }).click();
  await expect(page.getByRole('dialog').getByRole('radio', { name: 'Share of permits limited' })).toBeFocused();
});

test('a service account is told from a person, and has no password to set', async ({ page }) => {
  await login(page.request, 'admin');
  const made = await page.request.post('/api/v1/service-accounts', { data: { name: 'e2e-robot', display_name: '', role: 'member', reason: 'test' } });
  expect([201, 409]).toContain(made.status());
  await page.goto('/people?search=e2e-robot');
  const row = page.getByRole('row').filter({ hasText: 'e2e-robot' });
  await expect(row.getByText('Service account', { exact: true })).toBeVisible();
  const button = row.getByRole('button', { name: 'Set the password of e2e-robot' });
  await expect(button).toHaveAttribute('aria-disabled', 'true');
  await expect(button).toHaveAccessibleDescription(/has no password/);
});

test.describe('on a narrow screen', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('the tab that is open is on the screen', async ({ page }) => {
    await login(page.request, 'owner');
    await page.goto(`/buckets/${sample}/settings`);
    await expect(page.getByRole('tab', { name: 'Settings' })).toBeInViewport({ ratio: 1 });
  });

  test('all that a card says of one thing stands beside its label, also in two lines', async ({ page }) => {
    await login(page.request, 'admin');
    const now = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
    await page.goto(`/as-of?at=${now}`);
    const cell = page.getByRole('cell').filter({ hasText: /Revision \d/ }).first();
    const [when, where] = [await leftOf(cell.locator('time')), await leftOf(cell.getByText(/Revision \d/).last())];
    expect(where).toBe(when);
  });
});

async function leftOf(what: Locator): Promise<number> {
  return Math.round((await what.boundingBox())?.x ?? NaN);
}

/** How many lines of text an element shows. */
async function lines(element: Locator): Promise<number> {
  return element.evaluate((one) => Math.round(one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight)));
}
