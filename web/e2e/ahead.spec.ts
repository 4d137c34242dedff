import { expect, test } from '@playwright/test';
import { login } from './login';

test('the list is asked for while the code of its page is still on its way', async ({ page }) => {
  await login(page.request, 'owner');
  const asked = page.waitForRequest((request) => new URL(request.url()).pathname === '/api/v1/buckets');
  const who = page.waitForRequest('**/api/v1/auth/me');
  await page.route('**/assets/BucketsPage-*.js', async (route) => {
    await Promise.all([asked, who]);
    await route.continue();
  });
  await page.goto('/buckets?search=e2e-sample&sort=-updated_at');
  expect((await asked).url()).toContain('search=e2e-sample&sort=-updated_at');
  await expect(page.getByRole('table').getByRole('link', { name: 'e2e-sample', exact: true })).toBeVisible();
});
