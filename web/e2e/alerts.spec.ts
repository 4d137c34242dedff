import { expect, test } from '@playwright/test';
import { login } from './login';
import { ensureSamples } from './samples';

// An owner sets when he is told, changes that and takes it back; who may only look, looks.

test('an owner sets an alert rule, edits it and removes it', async ({ page, browser }) => {
  await login(page.request, 'owner');
  await ensureSamples(page.request);
  await page.goto('/buckets/e2e-slots/settings');
  const section = page.getByRole('region', { name: 'Alerts' });
  await expect(section.getByText('No rules yet, so nobody is told.')).toBeVisible();
  await section.getByRole('button', { name: 'Add rule' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Limit in use/).check();
  await dialog.getByLabel('Percent').fill('0');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByText('A whole number from 1 to 100.')).toBeVisible();
  await dialog.getByLabel('Percent').fill('90');
  await dialog.getByLabel('Minutes').fill('10');
  await expect(dialog.getByText(/every one of 10 min in a row, and again after 10 min below/)).toBeVisible();
  await dialog.getByRole('button', { name: 'Save' }).click();
  const rule = 'At least 90% of the limit is in use, for 10 min';
  await expect(section.getByText(rule)).toBeVisible();
  await expect(section.getByText('Quiet')).toBeVisible();

  const other = await browser.newContext();
  await login(other.request, 'auditor');
  const theirs = await other.newPage();
  await theirs.goto('/buckets/e2e-slots/settings');
  await expect(theirs.getByText(rule)).toBeVisible();
  await expect(theirs.getByRole('button', { name: 'Add rule' })).toHaveAttribute('aria-disabled', 'true');
  await other.close();

  await section.getByRole('button', { name: `Edit rule: ${rule}` }).click();
  await dialog.getByRole('switch', { name: 'On' }).uncheck();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(section.getByText('Off', { exact: true })).toBeVisible();

  await section.getByRole('button', { name: `Remove rule: ${rule}` }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await expect(section.getByText('No rules yet, so nobody is told.')).toBeVisible();

  await page.getByRole('link', { name: /^Alerts: 0 open/ }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Alerts' })).toBeVisible();
  await expect(page.getByText('No alerts')).toBeVisible();
});
