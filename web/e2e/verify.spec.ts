import { expect, test } from '@playwright/test';
import { login } from './login';

test('the audit log tells where its chain stands, and verifies it as far as it was signed', async ({ page }) => {
  await login(page.request, 'auditor');
  await page.goto('/audit');
  // A server signs once a minute in which something happened: the login above did.
  const chain = page.getByTestId('chain');
  await expect(chain).toContainText(/^Chained up to entry [\d,]+, signed up to entry [\d,]+ · /, { timeout: 90_000 });
  await expect(chain.getByRole('button', { name: 'Copy: the newest checkpoint' })).toBeVisible();

  await page.getByRole('button', { name: 'Verify' }).click();
  const dialog = page.getByRole('dialog', { name: 'Verify the history' });
  await expect(dialog.getByRole('status')).toContainText('The history is as it was written');
  await expect(dialog.getByRole('status')).toContainText(/[\d,]+ entries were verified, 1 to [\d,]+\./);
  await expect(dialog.getByRole('status')).toContainText(/signed checkpoints? agrees?\./);
  await expect(dialog.getByText('Compare it with the one that you keep')).toBeVisible();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await expect(page).toHaveURL(/\/audit$/);
});

test('a verification that is broken off says so, and is tried again', async ({ page }) => {
  await login(page.request, 'auditor');
  await page.route('**/api/v1/audit/verify', (route) => route.abort('connectionreset'), { times: 1 });
  await page.goto('/audit?open=verify');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('alert')).toBeVisible();
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await expect(dialog.getByRole('status')).toContainText('The history is as it was written');
});
