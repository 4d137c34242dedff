import { expect, test } from '@playwright/test';
import { logins } from './env';
import { login } from './login';

// An owner rolls a bucket back after looking at the difference, deletes it, and brings it back; an auditor takes the log home.

test('a bucket is compared, rolled back, deleted and restored', async ({ page, request }) => {
  await login(request, 'owner');
  await login(page.request, 'owner');
  const name = `e2e-history-${Date.now()}`;
  const definition = { apps: ['checkout'], owners: [logins().owner.name], max_permits: 100, rate: 50, partition: 'shared' };
  const made = await request.post('/api/v1/buckets', { data: { ...definition, name, reason: 'the contract' } });
  expect(made.status(), await made.text()).toBe(201);
  const edited = await request.put(`/api/v1/buckets/${name}`, {
    headers: { 'If-Match': made.headers().etag ?? '' },
    data: { ...definition, rate: 7, reason: 'a slip of the hand' },
  });
  expect(edited.status(), await edited.text()).toBe(200);

  await page.goto(`/buckets/${name}/history`);
  await expect(page.getByRole('region', { name: 'Compare two revisions' }).getByTestId('field-diff')).toContainText('50');
  await page.getByRole('button', { name: 'Roll back to revision 1' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByTestId('field-diff')).toContainText('7');
  await dialog.getByRole('button', { name: 'Roll back' }).click();
  await expect(dialog.getByText('Say why; it stays in the history.')).toBeVisible();
  await dialog.getByLabel('Reason').fill('that was not meant');
  await dialog.getByRole('button', { name: 'Roll back' }).click();
  await expect(page.getByText('Revision 3 is saved')).toBeVisible();
  await expect(page.getByRole('heading', { name: /Revision 3 · rolled back/ })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Roll back to revision 1' })).toBeFocused(); // where the dialog was opened

  // Which two are compared is in the URL.
  const compare = page.getByRole('region', { name: 'Compare two revisions' });
  await compare.getByRole('combobox', { name: 'From' }).fill('1');
  await page.getByRole('option', { name: 'Revision 1' }).click();
  await expect(compare.getByText('No field changed.')).toBeVisible();
  await page.reload();
  await expect(compare.getByRole('combobox', { name: 'From' })).toHaveValue('Revision 1');
  await expect(compare.getByText('No field changed.')).toBeVisible();

  const gone = await request.delete(`/api/v1/buckets/${name}?reason=over`, { headers: { 'If-Match': '"3"' } });
  expect(gone.status(), await gone.text()).toBe(200);
  await page.goto(`/deleted?search=${name}`);
  await page.getByRole('button', { name: `Restore ${name}` }).click();
  await dialog.getByLabel('Reason').fill('still needed');
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await expect(page).toHaveURL(new RegExp(`/buckets/${name}$`));
  await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible();
});

test('the audit log is exported under the filters of the page', async ({ page }) => {
  await login(page.request, 'auditor');
  await page.goto('/audit?action=login');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menu').getByText('As JSON Lines').click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^headgate-changes-\d{8}T\d{6}Z\.jsonl$/);
  const stream = await file.createReadStream();
  let text = '';
  for await (const part of stream) text += String(part);
  const lines = text.trimEnd().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ end: true, rows: lines.length - 1 });
  for (const line of lines.slice(0, -1)) expect((JSON.parse(line) as { action: string }).action).toBe('login');
});
