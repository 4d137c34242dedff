import { expect, test, type Page } from '@playwright/test';
import { violations } from './accessible';
import { login } from './login';

// A bucket that an SDK meets limited minute after minute, since before the browser tests began, and whose owner set that
// he is told: he sees it wherever he is, and so does whoever may see the bucket.

const bucket = 'e2e-told';
const rule = 'At least 50% of the requested permits are limited, for 1 min';
const started = 150_000; // ms; two whole minutes, and the reports and readings of them, on a machine that is busy

async function accessible(page: Page, where: string): Promise<void> {
  expect(await violations(page), where).toEqual([]);
}

test('an open alert is at the bell, on the list, on the bucket and in its rules, until its bucket is switched off', async ({ page, browser }) => {
  test.setTimeout(started + 120_000);
  await login(page.request, 'stranger');
  await page.goto('/alerts');
  const list = page.getByRole('region', { name: 'Open', exact: true });
  await expect(list.getByRole('link', { name: bucket })).toBeVisible({ timeout: started });
  await expect(list.getByText(rule)).toBeVisible();
  await expect(list.getByText(/opened .* ago · now (100|[5-9]\d(\.\d)?)%, peak/)).toBeVisible();
  await expect(page.getByRole('link', { name: 'Alerts: 1 open in your buckets' })).toBeVisible({ timeout: 30_000 });
  await accessible(page, 'the list');

  await list.getByRole('link', { name: bucket }).click();
  const mark = page.getByRole('main').getByRole('status').filter({ hasText: rule });
  await expect(mark).toBeVisible();
  await accessible(page, 'the overview of the bucket');
  await mark.getByRole('link', { name: 'Alert rules' }).click();
  const rules = page.getByRole('region', { name: 'Alerts' });
  await expect(rules.getByText('Open', { exact: true })).toBeVisible();
  await accessible(page, 'its settings');

  const other = await browser.newContext({ colorScheme: 'dark', viewport: { width: 360, height: 740 } });
  await login(other.request, 'auditor');
  const theirs = await other.newPage();
  await theirs.goto('/alerts');
  await expect(theirs.getByRole('link', { name: bucket })).toBeVisible();
  await expect(theirs.getByRole('link', { name: 'Alerts: 0 open in your buckets' })).toBeVisible();
  await expect.poll(() => theirs.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await accessible(theirs, 'the list, dark and narrow');

  await page.getByRole('button', { name: 'Switch off' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('enough of it');
  await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click();
  await expect(rules.getByText('Quiet', { exact: true })).toBeVisible({ timeout: 60_000 });
  await theirs.reload();
  const ended = theirs.getByRole('region', { name: 'Ended' });
  await expect(ended.getByText(/the bucket was switched off/)).toBeVisible();
  await other.close();
});
