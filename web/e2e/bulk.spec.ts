import { expect, test, type APIRequestContext, type Page } from '@playwright/test';
import { violations } from './accessible';
import { logins } from './env';
import { login } from './login';

// An owner picks buckets in the list, looks at what a change would do, and makes it; one that somebody else changed in
// between holds it up, and is taken out.

const stamp = Date.now();
const prefix = `e2e-bulk-${stamp}`;
const label = `batch=b${stamp}`;
const definition = () => ({ apps: ['checkout'], owners: [logins().owner.name], max_permits: 100, rate: 50, partition: 'shared' });

async function make(request: APIRequestContext, names: string[]) {
  for (const name of names) {
    const made = await request.post('/api/v1/buckets', { data: { ...definition(), name, reason: 'for the batch' } });
    expect(made.status(), await made.text()).toBe(201);
  }
}

async function accessible(page: Page): Promise<void> {
  expect(await violations(page)).toEqual([]);
}

test('buckets are picked, reviewed and changed at once', async ({ page, request }) => {
  await login(request, 'owner');
  await login(page.request, 'owner');
  const names = ['a', 'b', 'c', 'd'].map((letter) => `${prefix}-${letter}`);
  await make(request, names);
  await page.goto(`/buckets?search=${prefix}`);
  const box = (name: string | undefined) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true });
  await box(names[0]).click();
  await box(names[2]).click({ modifiers: ['Shift'] });
  const bar = page.getByRole('region', { name: 'Selected buckets' });
  await expect(bar).toContainText('3 buckets selected');
  await box(names[3]).press('Space');
  await expect(bar).toContainText('4 buckets selected');

  await bar.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Edit 4 buckets' });
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByRole('alert')).toContainText('Choose what to change');
  await dialog.getByLabel('Set labels').fill(label);
  await page.keyboard.press('Enter');
  await dialog.getByRole('combobox', { name: 'Mode' }).click();
  await page.getByRole('option', { name: 'Shadow' }).click();
  await accessible(page);
  await dialog.getByRole('button', { name: 'Review' }).click();
  await expect(dialog.getByRole('status')).toHaveText(/4 buckets will change/);
  await expect(dialog.getByRole('region', { name: names[1] ?? '' })).toContainText('Shadow');
  await accessible(page);

  const other = await request.put(`/api/v1/buckets/${names[3]}`, {
    headers: { 'If-Match': '"1"' },
    data: { ...definition(), rate: 7, reason: 'in between' },
  });
  expect(other.status(), await other.text()).toBe(200);
  await dialog.getByLabel('Reason').fill('the batch is tried first');
  await dialog.getByRole('button', { name: 'Change 4 buckets' }).click();
  await expect(dialog.getByRole('alert')).toContainText(`${names[3]}: was changed by someone else; it is at revision 2 now`);
  await dialog.getByRole('button', { name: 'Take these out of the selection' }).click();

  const rest = page.getByRole('dialog', { name: 'Edit 3 buckets' });
  await rest.getByRole('button', { name: 'Review' }).click();
  await expect(rest.getByRole('status')).toHaveText(/3 buckets will change/);
  await rest.getByLabel('Reason').fill('the batch is tried first');
  await rest.getByRole('button', { name: 'Change 3 buckets' }).click();
  await expect(page.getByText('3 buckets changed and in force.')).toBeVisible();
  await expect(rest).toBeHidden();
  await expect(bar).toBeHidden();
  await expect(page.getByRole('row', { name: new RegExp(names[0] ?? '') })).toContainText(label);

  // The label filter offers it though the rows shown do not have it, and "all that match" picks by it.
  await page.goto('/buckets?search=e2e-nothing-matches');
  await page.getByRole('combobox', { name: 'Label' }).fill(label);
  await page.getByRole('option', { name: label }).click();
  await expect(page).toHaveURL(new RegExp(encodeURIComponent(label)));
});

test('all that match are picked beyond the page, and nobody picks what they may not edit', async ({ page, request }) => {
  await login(request, 'owner');
  await login(page.request, 'owner');
  await make(request, Array.from({ length: 27 }, (_, i) => `${prefix}-page-${String(i).padStart(2, '0')}`));
  await page.goto(`/buckets?search=${prefix}-page`);
  await page.getByRole('checkbox', { name: 'Select all on this page' }).click({ timeout: 30_000 });
  const bar = page.getByRole('region', { name: 'Selected buckets' });
  await expect(bar).toContainText('25 buckets selected');
  await bar.getByRole('button', { name: 'Select all that match' }).click();
  await expect(bar).toContainText('27 buckets selected');
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(page.getByRole('checkbox', { name: `Select ${prefix}-page-26` })).toBeChecked();
  await page.setViewportSize({ width: 360, height: 740 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  const account = async () => {
    const box = await page.getByRole('banner').getByRole('button').last().boundingBox();
    return box ? box.x + box.width : Infinity;
  };
  await expect.poll(account, { message: 'the account menu is not cut off' }).toBeLessThanOrEqual(360);
  await bar.getByRole('button', { name: 'Clear selection' }).click();
  await expect(bar).toBeHidden();

  await login(page.request, 'auditor');
  await page.goto(`/buckets?search=${prefix}-page`);
  await expect(page.getByRole('link', { name: `${prefix}-page-00` })).toBeVisible();
  await expect(page.getByRole('checkbox')).toHaveCount(0);
});
