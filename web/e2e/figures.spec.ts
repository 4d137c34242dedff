import { expect, test } from '@playwright/test';
import { firstPaint } from './first-paint';
import { login } from './login';

// How soon the console is there.

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
