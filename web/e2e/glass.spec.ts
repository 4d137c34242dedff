import { expect, test } from '@playwright/test';
import { logins } from './env';
import { login } from './login';

// An admin puts one app's calls into shadow and ends that again, while everybody sees it; an owner copies a bucket and finds
// all buckets of a label.

test('break-glass is confirmed, seen by everybody, and ended', async ({ page, browser, request }) => {
  await login(page.request, 'admin');
  await page.goto('/system');
  const card = page.getByRole('region', { name: 'Break-glass' });
  await expect(card.getByText('Not in force')).toBeVisible();
  await card.getByRole('button', { name: 'Break the glass' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^One app/).check();
  await dialog.getByRole('button', { name: 'Break the glass' }).click();
  await expect(dialog.getByText('Choose an app.')).toBeVisible();
  await expect(dialog.getByText('Say why; it stays in the history.')).toBeVisible();
  await dialog.locator('input[aria-haspopup=listbox]').fill('checkout');
  await page.getByRole('option', { name: 'checkout', exact: true }).click();
  await dialog.getByLabel('Reason').fill('the limits were too low');
  await dialog.getByLabel('Type SHADOW to confirm').fill('shadow');
  await dialog.getByRole('button', { name: 'Break the glass' }).click();
  await expect(card.getByText('Not in force')).toBeVisible();
  await dialog.getByLabel('Type SHADOW to confirm').fill('SHADOW');
  await dialog.getByRole('button', { name: 'Break the glass' }).click();
  await expect(card.getByText('In force', { exact: true })).toBeVisible();

  const other = await browser.newContext();
  await login(other.request, 'auditor');
  const theirs = await other.newPage();
  await theirs.goto('/buckets');
  await expect(theirs.getByText('Break-glass: some apps are not limited')).toBeVisible();
  await expect(theirs.getByText('the limits were too low')).toBeVisible();
  await theirs.goto('/system');
  await expect(theirs.getByRole('button', { name: /Break the glass/ })).toHaveAttribute('aria-disabled', 'true');
  await other.close();

  await card.getByRole('button', { name: 'End', exact: true }).click();
  await dialog.getByRole('button', { name: 'End break-glass', exact: true }).click();
  await expect(card.getByText('Not in force')).toBeVisible();
  await expect(page.getByText('Break-glass: some apps are not limited')).toBeHidden();

  await login(request, 'admin');
  const rows = await request.get('/api/v1/changes?target=app:checkout');
  const actions = ((await rows.json()) as { items: { action: string }[] }).items.map((row) => row.action);
  expect(actions.slice(0, 2)).toEqual(['break_glass.end', 'break_glass.start']);
});

test('a bucket is cloned under another name', async ({ page }) => {
  await login(page.request, 'owner');
  const name = `e2e-clone-${Date.now()}`;
  const made = await page.request.post('/api/v1/buckets', {
    data: { name, apps: ['checkout'], owners: [logins().owner.name], max_permits: 123, rate: 7, labels: { team: name }, reason: 'the contract' },
  });
  expect(made.status(), await made.text()).toBe(201);
  await page.goto(`/buckets/${name}`);
  await page.getByRole('link', { name: 'Clone' }).click();
  await expect(page.getByRole('heading', { level: 1, name: `Clone ${name}` })).toBeVisible();
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill(`${name}-copy`);
  await page.getByLabel('Reason').fill('the same for another partner');
  await page.getByRole('button', { name: 'Create bucket' }).click();
  await expect(page.getByRole('heading', { level: 1, name: `${name}-copy` })).toBeVisible();
  const copy = (await (await page.request.get(`/api/v1/buckets/${name}-copy`)).json()) as Record<string, unknown>;
  expect(copy).toMatchObject({ max_permits: 123, rate: 7, apps: ['checkout'], labels: { team: name }, revision: 1 });

  await page.goto(`/buckets?search=${name}-copy`);
  await page.getByRole('link', { name: `team=${name}` }).click();
  await expect(page.getByRole('link', { name, exact: true })).toBeVisible();
  await expect(page.getByRole('link', { name: `${name}-copy`, exact: true })).toBeVisible();
  await expect(page.getByLabel('Label', { exact: true }).first()).toHaveValue(`team=${name}`);
});
