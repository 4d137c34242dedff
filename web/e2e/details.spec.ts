import { expect, test, type Locator } from '@playwright/test';
import { login } from './login';
import { sample } from './samples';

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
    await expect(page.getByRole('button', { name: 'Clear all filters' })).toBeVisible();
    await field.fill('');
    await expect(page.getByRole('rowheader').first()).toBeVisible();
    await expect(field).toBeFocused();

    await field.fill('nothing-like-this');
    await page.getByRole('button', { name: 'Clear all filters' }).click();
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
