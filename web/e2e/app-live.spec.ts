import { expect, test, type APIRequestContext, type Browser, type Page } from '@playwright/test';
import { logins } from './env';
import { Line } from './line';
import { Load } from './load';
import { login } from './login';

// An app's page, second by second, with applications that really acquire.

/** Makes an app of olivia's with buckets of its own, that nobody else uses. */
async function makeApp(browser: Browser, buckets: readonly string[]): Promise<string> {
  const app = `live-${Date.now()}-${Math.floor(Math.random() * 1e6)}`;
  const context = await browser.newContext();
  await login(context.request, 'admin');
  const owner = logins().owner.name;
  const made = await context.request.post('/api/v1/apps', { data: { name: app, description: '', members: [{ user: owner, role: 'owner' }] } });
  expect(made.status(), await made.text()).toBe(201);
  for (const bucket of buckets) await makeBucket(context.request, `${app}-${bucket}`, app);
  await context.close();
  return app;
}

async function makeBucket(request: APIRequestContext, name: string, app: string): Promise<void> {
  const definition = { apps: [app], owners: [logins().owner.name], max_permits: 20, rate: 20, partition: 'shared', reason: 'test' };
  const made = await request.post('/api/v1/buckets', { data: { ...definition, name } });
  expect(made.status(), await made.text()).toBe(201);
}

const number = async (page: Page, id: string) => Number((await page.getByTestId(id).textContent())?.replaceAll(',', ''));

test('an app’s page tells within two seconds what its SDKs get, in all and in each bucket', async ({ browser, page }) => {
  const app = await makeApp(browser, ['one', 'two']);
  await login(page.request, 'owner');
  await page.goto(`/apps/${app}`);
  await expect(page.getByTestId('app-granted')).toHaveText('0', { timeout: 20_000 }); // the stream is on
  await expect(page.getByText('The app asked for no permits in this time.')).toBeVisible();
  const shown = page.waitForFunction(() => Number(document.querySelector('[data-testid="app-granted"]')?.textContent) > 0 && Date.now(), undefined, { timeout: 30_000 });
  const loads = [new Load(app, `${app}-one`, 60, '60s')];
  try {
    const at = Number(await (await shown).jsonValue());
    await expect.poll(() => loads[0]?.seconds.length).toBeGreaterThan(0);
    const begun = (loads[0]?.seconds[0]?.at ?? 0) - 1_000; // a line stands for the second before it
    expect(at - begun, 'ms from the first call to the figure').toBeLessThan(3_000);
    loads.push(new Load(app, `${app}-two`, 20, '60s'));
    const row = (bucket: string) => page.getByRole('row').filter({ hasText: `${app}-${bucket}` });
    await expect.poll(() => number(page, 'app-granted'), { timeout: 20_000 }).toBeGreaterThan(30);
    await expect.poll(() => number(page, 'app-limited')).toBeGreaterThan(20);
    await expect(row('one')).toContainText(/\d+%/);
    // The roll-up finds the shares within some ten seconds, what is granted now is there before.
    await expect(row('two').getByRole('cell').first()).toHaveText(/^(1\d|2\d)(\.\d)?$/, { timeout: 20_000 });
    await expect(row('one').getByRole('cell').last()).toHaveText(/^[5-9]\d(\.\d)?%$/, { timeout: 20_000 });
    await expect.poll(() => number(page, 'app-asked'), { timeout: 30_000 }).toBeGreaterThan(100);
    await row('two').getByRole('link').click();
    await expect(page).toHaveURL(new RegExp(`/buckets/${app}-two`));
  } finally {
    for (const load of loads) load.stop();
  }
});

test('the ranges of an app’s page are in its URL, and each tells the shares of the buckets', async ({ browser, page }) => {
  const app = await makeApp(browser, ['one']);
  await login(page.request, 'owner');
  const load = new Load(app, `${app}-one`, 60, '60s');
  try {
    await page.goto(`/apps/${app}`);
    const row = page.getByRole('row').filter({ hasText: `${app}-one` });
    const share = row.getByRole('cell').last();
    await expect(share).toHaveText('100%', { timeout: 30_000 });
    for (const [range, text] of [['1h', '1 h'], ['24h', '24 h']] as const) {
      await page.getByText(text, { exact: true }).click();
      await expect(page).toHaveURL(new RegExp(`range=${range}`));
      await expect(share).toHaveText('100%');
      await expect(page.getByRole('columnheader', { name: 'Granted', exact: true })).toBeVisible();
    }
    await page.reload();
    await expect(page.getByRole('radio', { name: '24 h' })).toBeChecked();
    await expect(page.getByTestId('app-refused')).toHaveText(/^[1-9][\d.]*%$/);
  } finally {
    load.stop();
  }
});

test('an app’s figures come again by themselves when the connection was cut, and rest while the tab is hidden, which leaves no hole', async ({ browser, baseURL }) => {
  const app = await makeApp(browser, ['one']);
  const line = await Line.to(baseURL!);
  const context = await browser.newContext({ baseURL: line.url });
  const page = await context.newPage();
  await login(page.request, 'owner');
  const load = new Load(app, `${app}-one`, 60, '100s');
  const flowing = () => expect.poll(() => number(page, 'app-granted'), { timeout: 30_000 }).toBeGreaterThan(5);
  try {
    await page.goto(`/apps/${app}`);
    await flowing();
    expect(line.streams).toBe(1);

    line.cut();
    await expect(page.getByTestId('app-granted')).toHaveText('–', { timeout: 15_000 }); // no old figure passes for the present
    line.mend();
    await flowing();
    expect(line.streams).toBe(1);

    await see(page, 'hidden');
    await expect.poll(() => line.streams).toBe(0);
    const since = load.seconds.length;
    await expect.poll(() => load.seconds.length, { timeout: 30_000 }).toBeGreaterThan(since + 5);
    await see(page, 'visible');
    await expect.poll(() => line.streams).toBe(1);
    await flowing();
    const back = load.seconds.length;
    await expect.poll(() => load.seconds.length, { timeout: 30_000 }).toBeGreaterThan(back + 5); // new figures are drawn
    // What went by meanwhile is drawn from the minutes: the line of what was granted is one.
    await expect.poll(() => page.locator('.uplot svg path[stroke]').first().getAttribute('d'), { timeout: 30_000 }).toMatch(/^M[^M]*$/);

    await page.getByRole('button', { name: 'Pause' }).click();
    await expect.poll(() => line.streams).toBe(0);
  } finally {
    load.stop();
    await context.close();
    line.close();
  }
});

/** Has the page believe that its tab is shown, or is not. */
async function see(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate((visibility) => {
    Object.defineProperty(document, 'visibilityState', { value: visibility, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
}
