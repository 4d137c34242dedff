import { test, type Browser, type BrowserContext, type Page } from '@playwright/test';
import { firstPaint } from '../e2e/first-paint';
import { login } from '../e2e/login';
import { tell, tellRuns } from './figures';
import { usableAfter, watchRows } from './usable';

const [runs, bar, firstLoad] = [10, 1_000, 300]; // times, ms, KB

const lists = [
  { name: 'buckets', link: 'Buckets', path: '/buckets', rows: 25, selector: 'tbody th a[href^="/buckets/"]' },
  { name: 'apps', link: 'Apps', path: '/apps', rows: 25, selector: 'tbody th a[href^="/apps/"]' },
  { name: 'audit log', link: 'Audit log', path: '/audit', rows: 25, selector: 'main ol > li :is(a, button)' },
];

async function contextOf(browser: Browser, baseURL: string | undefined): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: baseURL ?? '', locale: 'en-US', viewport: { width: 1440, height: 900 } });
  await login(context.request, 'admin');
  return context;
}

async function pageOf(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await watchRows(page);
  return page;
}

test('first load', async ({ browser, baseURL }) => {
  test.info().annotations.push({ type: 'browser', description: `Chromium ${browser.version()}` });
  for (const path of ['/login', '/buckets']) {
    const paints: number[] = [];
    let weight = 0;
    for (let i = 0; i < runs; i++) {
      // A context of its own has an empty cache.
      const context = path === '/login' ? await browser.newContext({ baseURL: baseURL ?? '' }) : await contextOf(browser, baseURL);
      const page = await pageOf(context);
      await page.goto(path);
      await page.locator(path === '/login' ? 'input[name=username]' : lists[0]!.selector).first().waitFor();
      paints.push(await firstPaint(page));
      const bytes = await page.evaluate(() =>
        performance
          .getEntriesByType('resource')
          .filter((entry): entry is PerformanceResourceTiming => /\.(js|css)$/.test(new URL(entry.name).pathname))
          .reduce((sum, entry) => sum + entry.encodedBodySize, 0),
      );
      weight = Math.max(weight, bytes / 1024);
      await context.close();
    }
    tell({ what: `script and style of ${path}, gzip`, value: weight, unit: 'KB', bar: firstLoad });
    tellRuns(`first contentful paint of ${path}, nothing cached`, paints, bar);
  }
});

test('lists usable', async ({ browser, baseURL }) => {
  const context = await contextOf(browser, baseURL);
  for (const list of lists) {
    const loaded: number[] = [];
    const opened: number[] = [];
    const returned: number[] = [];
    for (let i = 0; i <= runs; i++) {
      const cold = await pageOf(context);
      await cold.goto(list.path, { waitUntil: 'commit' });
      const took = await usableAfter(cold, list.selector, list.rows);
      await cold.close();
      if (i === 0) continue; // filled the HTTP cache
      loaded.push(took);

      const page = await pageOf(context);
      await page.goto('/profile', { waitUntil: 'networkidle' });
      opened.push(await follow(page, list));
      await follow(page, { link: 'API tokens', selector: '#main a, #main button', rows: 1 });
      returned.push(await follow(page, list));
      await page.close();
    }
    tellRuns(`${list.name}: address opened, warm HTTP cache`, loaded, bar);
    tellRuns(`${list.name}: from another page, first time`, opened, bar);
    tellRuns(`${list.name}: from another page, back again`, returned, bar);
  }
  await context.close();
});

/** Clicks a link of the navigation; returns how long after the click the page was usable. */
async function follow(page: Page, { link, selector, rows }: { link: string; selector: string; rows: number }): Promise<number> {
  await page.evaluate(() => {
    addEventListener('click', (event) => performance.mark('followed', { startTime: event.timeStamp }), { once: true, capture: true });
  });
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: link, exact: true }).click();
  const clicked = await page.evaluate(() => performance.getEntriesByName('followed').at(-1)?.startTime ?? NaN);
  return usableAfter(page, selector, rows, clicked);
}
