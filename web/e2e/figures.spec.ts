import { expect, test } from '@playwright/test';
import { logins } from './env';
import { firstPaint } from './first-paint';
import { Load } from './load';
import { login } from './login';

// What an app uses, and how soon the console is there.

test('an app’s page tells what it was granted and limited, over the range that the URL names', async ({ page }) => {
  await login(page.request, 'owner');
  const bucket = `usage-${Date.now()}`;
  const definition = { apps: ['checkout'], owners: [logins().owner.name], max_permits: 10, rate: 5, partition: 'shared', reason: 'test' };
  const made = await page.request.post('/api/v1/buckets', { data: { ...definition, name: bucket } });
  expect(made.status(), await made.text()).toBe(201);
  const load = new Load('checkout', bucket, 50, '20s');
  try {
    await page.goto('/apps/checkout');
    const usage = page.getByRole('region', { name: 'Usage', exact: true });
    await usage.getByText('5 min', { exact: true }).click();
    await expect(page).toHaveURL(/range=5m/);
    const number = async (id: string) => Number((await page.getByTestId(id).textContent())?.replaceAll(',', ''));
    await expect.poll(() => number('app-asked'), { timeout: 60_000 }).toBeGreaterThan(100);
    await expect(page.getByTestId('app-refused')).toHaveText(/^[1-9][\d.]*%$/);
    await expect(usage.locator('canvas')).toBeVisible();
    await page.reload();
    await expect(usage.getByRole('radio', { name: '5 min' })).toBeChecked();
  } finally {
    load.stop();
  }
});

test('how soon the console is there, for people to read', async ({ page }) => {
  await login(page.request, 'owner');
  for (const visit of ['first', 'second']) {
    await page.goto('/buckets');
    await page.getByRole('table').getByRole('link').first().waitFor();
    const rows = await page.evaluate(() => performance.now());
    const paint = await firstPaint(page);
    console.log(`${visit} visit of the list: first paint after ${Math.round(paint)} ms, rows visible after ${Math.round(rows)} ms`);
    expect(paint).toBeGreaterThan(0);
  }
});
