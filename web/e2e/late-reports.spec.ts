import { expect, test } from '@playwright/test';
import { logins } from './env';
import { login } from './login';
import { tellRedis } from './redis';

test('what an SDK reports late is seen in an open chart of a day', async ({ page }) => {
  await login(page.request, 'owner');
  const name = `late-${Date.now()}`;
  const definition = { name, apps: ['checkout'], owners: [logins().owner.name], max_permits: 20, rate: 20, partition: 'shared', reason: 'test' };
  const made = await page.request.post('/api/v1/buckets', { data: definition });
  expect(made.status(), await made.text()).toBe(201);
  const report = (minutesAgo: number, granted: number) =>
    tellRedis(`HINCRBY headgate:{${name}}:u:${Math.floor(Date.now() / 60_000) - minutesAgo} g:checkout ${granted}`);

  await report(2, 100);
  await page.clock.install();
  await page.goto(`/buckets/${name}?range=24h`);
  const granted = page.getByRole('row').filter({ hasText: 'checkout' }).getByRole('cell').first();
  await expect(granted).toHaveText('100');
  await report(30, 7);
  await page.clock.runFor(31_000); // half of what a day is asked for again after
  await expect(granted).toHaveText('107');
});
