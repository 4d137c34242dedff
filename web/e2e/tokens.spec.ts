import { expect, test } from '@playwright/test';
import { login } from './login';

// An API token from its making to its end, with the person at the browser and the program at the API.

test('a token is made, shown once, used, and revoked', async ({ page, playwright, baseURL }) => {
  await login(page.request, 'owner');
  await page.goto('/buckets');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'API tokens' }).click();
  const name = `e2e-${Date.now()}`;
  await page.getByRole('button', { name: 'Create token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('not a name');
  await dialog.getByRole('button', { name: 'Create token' }).click();
  await expect(dialog.getByText('1 to 64 of A-Z')).toBeVisible();
  await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
  await expect(dialog.getByRole('checkbox', { name: 'read' })).toBeChecked();
  await dialog.getByRole('button', { name: 'Create token' }).click();
  const secret = await dialog.getByRole('region', { name: 'Secret' }).innerText();
  expect(secret.trim()).toMatch(/^hgp_[0-9A-Za-z]{49}$/);

  // Neither a click beside the dialog nor Escape takes the secret away.
  await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  await expect(dialog.getByRole('region', { name: 'Secret' })).toBeVisible();

  const program = await playwright.request.newContext({
    baseURL: baseURL ?? '',
    extraHTTPHeaders: { Authorization: `Bearer ${secret.trim()}` },
  });
  const seen = await program.get('/api/v1/buckets');
  expect(seen.status(), await seen.text()).toBe(200);
  const refused = await program.post('/api/v1/tokens', { data: { name: 'x', scopes: ['read'], expires_in_days: 1 } });
  expect(refused.status(), 'a token makes no tokens').toBe(403);

  // The way back closes the dialog, and the way forth opens it without the secret.
  await page.goBack();
  await expect(dialog).toHaveCount(0);
  await page.goForward();
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toHaveValue('');
  expect(await page.content()).not.toContain(secret.trim());
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog).toHaveCount(0);
  await page.reload();
  const row = page.getByRole('row').filter({ hasText: name });
  await expect(row.getByText('Active')).toBeVisible();
  await expect(row.getByText(/^from /)).toBeVisible(); // its last use
  expect(await page.content()).not.toContain(secret.trim());

  await row.getByRole('button', { name: `Revoke ${name}` }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: /^Reason/ }).fill('over');
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(row.getByText('Revoked')).toBeVisible();
  const after = await program.get('/api/v1/buckets');
  expect(after.status(), 'revoked at once').toBe(401);
  await program.dispose();
});
