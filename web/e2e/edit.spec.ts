import { expect, test, type APIRequestContext, type Page } from '@playwright/test';
import { logins } from './env';
import { login } from './login';

// What keeps people from losing or overwriting work: stale saves, unsaved input, lost connections, ended sessions.

let bucket: string;
let counter = 0;

function definition(over: object = {}) {
  return {
    description: '',
    labels: {},
    apps: ['checkout'],
    owners: [logins().owner.name],
    max_permits: 100,
    rate: 50,
    period_ms: 1000,
    partition: 'shared',
    mode: 'enforce',
    reason: 'test',
    ...over,
  };
}

async function put(request: APIRequestContext, base: number, over: object): Promise<void> {
  const headers = { 'If-Match': `"${base}"` };
  const answer = await request.put(`/api/v1/buckets/${bucket}`, { headers, data: definition(over) });
  expect(answer.status(), await answer.text()).toBe(200);
}

const rate = (page: Page) => page.getByRole('textbox', { name: 'Rate' });
const burst = (page: Page) => page.getByRole('textbox', { name: 'Burst (max permits)' });

async function saveWithReason(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Review changes' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.getByText('Say why; it stays in the history.')).toBeVisible();
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('because');
  await dialog.getByRole('button', { name: 'Save' }).click();
}

test.beforeEach(async ({ page }) => {
  await login(page.request, 'owner');
  bucket = `edit-${Date.now()}-${counter++}`;
  const answer = await page.request.post('/api/v1/buckets', { data: { ...definition(), name: bucket } });
  expect(answer.status(), await answer.text()).toBe(201);
});

test.afterEach(async ({ page }) => {
  await login(page.request, 'owner');
  const answer = await page.request.get(`/api/v1/buckets/${bucket}`);
  if (answer.ok()) {
    const headers = { 'If-Match': answer.headers().etag ?? '' };
    await page.request.delete(`/api/v1/buckets/${bucket}?reason=done`, { headers });
  }
});

test('a stale save loses nothing: their change stands beside yours, and you go on from both', async ({ page }) => {
  await page.goto(`/buckets/${bucket}/edit`);
  await rate(page).fill('25');
  // The page looks for newer revisions by itself; here it must learn it from the refused save.
  await page.route(`**/api/v1/buckets/${bucket}`, (route) => (route.request().method() === 'GET' ? route.abort() : route.continue()));
  await put(page.request, 1, { max_permits: 200, rate: 40 });
  await saveWithReason(page);
  const notice = page.getByRole('alert').filter({ hasText: 'changed this bucket while you were editing' });
  await expect(notice.getByRole('row').filter({ hasText: 'Rate' })).toHaveText(/changed by both\s*50\s*40\s*25/);
  await expect(notice.getByRole('row').filter({ hasText: 'Burst' })).toHaveText(/100\s*200\s*100/);
  await expect(rate(page)).toHaveValue('25');
  await page.unroute(`**/api/v1/buckets/${bucket}`);

  await notice.getByRole('button', { name: 'Go on with my changes' }).click();
  await expect(rate(page)).toHaveValue('25');
  await expect(burst(page)).toHaveValue('200');
  await page.getByRole('button', { name: 'Review changes' }).click();
  await expect(page.getByRole('dialog').getByRole('textbox', { name: 'Reason' })).toHaveValue('because');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('25 per 1 s, burst 200 · Revision 3')).toBeVisible();
});

test('an open edit shows that the bucket changed elsewhere before anything is saved', async ({ page }) => {
  await page.goto(`/buckets/${bucket}/edit`);
  await rate(page).fill('25');
  await put(page.request, 1, { mode: 'shadow' });
  await expect(page.getByText('changed this bucket while you were editing (revision 2)')).toBeVisible();
  await page.getByRole('button', { name: 'Drop mine' }).click();
  await expect(rate(page)).toHaveValue('50');
  await expect(page.getByRole('radio', { name: /^Shadow/ })).toBeChecked();
});

test('unsaved input is not left behind unasked', async ({ page }) => {
  await page.goto(`/buckets/${bucket}/edit`);
  await rate(page).fill('25');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Apps' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(rate(page)).toHaveValue('25');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Apps' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Apps' })).toBeVisible();
});

test('what the server refuses stands at its field, which gets the focus', async ({ page }) => {
  await page.goto(`/buckets/${bucket}/edit`);
  await page.route(`**/api/v1/buckets/${bucket}`, (route) =>
    route.request().method() === 'PUT'
      ? route.fulfill({
          status: 422,
          contentType: 'application/problem+json',
          body: JSON.stringify({ status: 422, code: 'invalid', errors: [{ field: 'period_ms', message: 'must be something else' }] }),
        })
      : route.continue(),
  );
  await rate(page).fill('25');
  await saveWithReason(page);
  await expect(page.getByText('must be something else')).toBeVisible();
  await expect(page.getByRole('textbox', { name: /^Per/ })).toBeFocused();
  await expect(rate(page)).toHaveValue('25');
});

test('a bucket is deleted by typing its name', async ({ page }) => {
  await page.goto(`/buckets/${bucket}/settings`);
  await page.getByRole('button', { name: 'Delete this bucket' }).click();
  const dialog = page.getByRole('dialog');
  const confirm = dialog.getByRole('button', { name: 'Delete' });
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('not needed any more');
  await dialog.getByRole('textbox', { name: /^Type/ }).fill(bucket.slice(0, -1));
  await expect(confirm).toBeDisabled();
  await dialog.getByRole('textbox', { name: /^Type/ }).fill(bucket);
  await confirm.click();
  await expect(page.getByRole('heading', { level: 1, name: 'Buckets' })).toBeVisible();
  await expect(page.getByText(`${bucket} was deleted.`)).toBeVisible();
  await expect(page.getByRole('link', { name: bucket })).toHaveCount(0);
});

test('a lost connection shows a banner and recovers by itself', async ({ page, context }) => {
  await page.goto(`/buckets/${bucket}`);
  await expect(page.getByTestId('granted-per-second')).not.toHaveText('–');
  await context.setOffline(true);
  await expect(page.getByText('The connection to the server is lost')).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByText('The connection to the server is lost')).toHaveCount(0);
});

test('an expired access token is renewed unseen; an ended session leads to the login and back', async ({ page, context }) => {
  await page.goto(`/buckets/${bucket}/history`);
  await expect(page.getByRole('article')).toHaveCount(1);
  await context.clearCookies({ name: 'headgate_access' });
  await page.getByRole('tab', { name: 'Use it' }).click();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Code and commands' })).toBeVisible();

  await context.clearCookies();
  await page.reload();
  await expect(page).toHaveURL(new RegExp(`/login\\?next=%2Fbuckets%2F${bucket}%2Fuse$`));
  await page.locator('input[name=username]').fill(logins().owner.name);
  await page.locator('input[name=password]').fill(logins().owner.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('heading', { name: 'Code and commands' })).toBeVisible();
});

test('search, filters and order are in the URL and survive a reload', async ({ page }) => {
  await page.goto('/buckets');
  await expect(page.getByRole('searchbox')).toBeVisible(); // a key that comes before the page is nobody's
  await page.keyboard.press('/');
  await page.keyboard.type(bucket, { delay: 5 });
  await expect(page).toHaveURL(new RegExp(`search=${bucket}`));
  await page.getByRole('button', { name: /^Name/ }).click();
  await expect(page).toHaveURL(/sort=-name/);
  await page.reload();
  await expect(page.getByRole('searchbox')).toHaveValue(bucket);
  await expect(page.getByRole('columnheader', { name: /^Name/ })).toHaveAttribute('aria-sort', 'descending');
  await expect(page.getByRole('row')).toHaveCount(2);
});
