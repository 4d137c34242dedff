import { expect, test, type Locator } from '@playwright/test';
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

test('the checkbox of a row looks like that of all rows', async ({ page }) => {
  await login(page.request, 'owner');
  await page.goto('/buckets?search=e2e-sample');
  const [all, one] = [page.getByRole('checkbox', { name: 'Select all on this page' }), page.getByRole('checkbox', { name: 'Select e2e-sample', exact: true })];
  const looks = (box: Locator) =>
    box.evaluate((input) => {
      const { width, height, backgroundColor, borderColor, borderRadius } = getComputedStyle(input);
      const icon = input.parentElement?.querySelector('svg');
      return { width, height, backgroundColor, borderColor, borderRadius, icon: icon && [getComputedStyle(icon).width, getComputedStyle(icon).color, getComputedStyle(icon).opacity] };
    });
  const alike = () => expect(async () => expect(await looks(one)).toEqual(await looks(all))).toPass({ timeout: 10_000 }); // a colour takes a moment
  await expect(all).not.toBeChecked();
  await alike();
  await all.check();
  await expect(one).toBeChecked();
  await alike();
});
