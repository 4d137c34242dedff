import { expect, test, type Browser, type Locator, type Page } from '@playwright/test';
import { login } from '../e2e/login';
import { tell } from './figures';
import { traceTasks } from './main-thread';

const bar = 50; // ms
const settle = 1_500; // ms after the last letter, for the answers to be drawn

/** The speeds of typing, in ms between letters: of a fast typist, and so slow that each letter is searched for. */
const speeds = [
  { name: 'fast', gap: 60 },
  { name: 'slow', gap: 320 },
];

const combobox = (name: string) => (page: Page) => page.getByRole('combobox', { name, exact: true });

// All are 12 letters long and end with something found.
const inputs: { name: string; path: string; text: string; input: (page: Page) => Locator }[] = [
  { name: 'search of buckets', path: '/buckets', text: 'checkout-api', input: (page) => page.getByRole('searchbox') },
  { name: 'filter by app', path: '/buckets', text: 'checkout-api', input: combobox('App') },
  { name: 'filter by owner', path: '/buckets', text: 'user-0012345', input: combobox('Owner') },
  { name: 'filter by label', path: '/buckets', text: 'team=support', input: combobox('Label') },
  { name: 'search of apps', path: '/apps', text: 'checkout-api', input: (page) => page.getByRole('searchbox') },
  { name: 'audit log by actor', path: '/audit', text: 'user-0012345', input: combobox('Who') },
  { name: 'audit log by action', path: '/audit', text: 'rolled back', input: combobox('Action') },
  { name: 'audit log by target', path: '/audit', text: 'checkout-api', input: (page) => page.getByRole('textbox', { name: 'Name', exact: true }) },
  { name: 'apps of a new bucket', path: '/create/bucket', text: 'checkout-api', input: combobox('Apps') },
];

test('typing', async ({ browser, baseURL }) => {
  for (const { name, path, text, input } of inputs) {
    for (const { name: speed, gap } of speeds) {
      const page = await openPage(browser, baseURL, path);
      const field = input(page);
      await field.focus();
      const seen = await typed(browser, page, text, gap);
      await expect(field).toHaveValue(text);
      await page.context().close();
      const note = `by the clock ${seen.took.toFixed(0)} ms, handlers of a key ${seen.handlers.toFixed(0)} ms, long tasks ${seen.long}`;
      tell({ what: `${name}, ${speed}: longest task`, value: seen.computed, unit: 'ms', bar, note });
    }
  }
});

async function openPage(browser: Browser, baseURL: string | undefined, path: string): Promise<Page> {
  const context = await browser.newContext({ baseURL: baseURL ?? '', locale: 'en-US', viewport: { width: 1440, height: 900 } });
  await login(context.request, 'admin');
  const page = await context.newPage();
  await page.goto(path, { waitUntil: 'networkidle' });
  return page;
}

interface Typed {
  /** The most that one task of the main thread had of a processor, and the longest that one took by the clock. */
  computed: number;
  took: number;
  /** The longest that the handlers of one key took, as Event Timing tells. */
  handlers: number;
  /** How many tasks Chromium calls long: over 50 ms. */
  long: number;
}

/** Types into what has the focus, and watches the main thread until the last answer is drawn. */
async function typed(browser: Browser, page: Page, text: string, gap: number): Promise<Typed> {
  await page.evaluate(() => {
    const seen = { handlers: 0, long: 0 };
    Object.assign(window, { benchTyped: seen });
    new PerformanceObserver((list) => (seen.long += list.getEntries().length)).observe({ type: 'longtask' });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as PerformanceEventTiming[]) {
        seen.handlers = Math.max(seen.handlers, entry.processingEnd - entry.processingStart);
      }
    }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
  });
  const { tasks } = await traceTasks(browser, page, async () => {
    await page.keyboard.type(text, { delay: gap });
    await page.waitForLoadState('networkidle');
    await page.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), settle);
  });
  const seen = await page.evaluate(() => (window as unknown as { benchTyped: { handlers: number; long: number } }).benchTyped);
  return { computed: Math.max(...tasks.map((task) => task.computed)), took: Math.max(...tasks.map((task) => task.took)), ...seen };
}
