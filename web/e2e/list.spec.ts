import { expect, test, type Locator } from '@playwright/test';
import { logins } from './env';
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

test('the list shows by itself what others change; nothing moves while rows are picked, and a hidden tab asks for nothing', async ({ page }) => {
  await login(page.request, 'owner');
  const name = `fresh-${Date.now()}`;
  const definition = (rate: number) => ({ apps: ['checkout'], owners: [logins().owner.name], max_permits: 100, rate, partition: 'shared', reason: 'test' });
  const made = await page.request.post('/api/v1/buckets', { data: { ...definition(50), name } });
  expect(made.status(), await made.text()).toBe(201);
  const edit = async (base: number, rate: number) =>
    expect((await page.request.put(`/api/v1/buckets/${name}`, { headers: { 'If-Match': `"${base}"` }, data: definition(rate) })).status()).toBe(200);
  let asked = 0;
  page.on('request', (request) => (asked += new URL(request.url()).pathname === '/api/v1/buckets' ? 1 : 0));
  const turn = (visibility: string) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    }, visibility);

  await page.clock.install();
  await page.goto(`/buckets?search=${name}`);
  const row = page.getByRole('row', { name: new RegExp(name) });
  await expect(row).toContainText('50 per 1 s');
  await edit(1, 60);
  await page.clock.fastForward(16_000);
  await expect(row).toContainText('60 per 1 s');

  await row.getByRole('checkbox').check();
  await edit(2, 70);
  let before = asked;
  await page.clock.fastForward(60_000);
  expect(asked).toBe(before);
  await row.getByRole('checkbox').uncheck();
  await page.clock.fastForward(16_000);
  await expect(row).toContainText('70 per 1 s');

  await turn('hidden');
  before = asked;
  await page.clock.fastForward(60_000);
  expect(asked).toBe(before);
  await edit(3, 80);
  await turn('visible');
  await page.clock.fastForward(16_000);
  await expect(row).toContainText('80 per 1 s');
  await page.request.delete(`/api/v1/buckets/${name}?reason=done`, { headers: { 'If-Match': '"4"' } });
});
