import { expect, test, type BrowserContext, type CDPSession, type Page } from '@playwright/test';
import { login } from '../e2e/login';
import { hurry } from './faster';
import { tell, watchedBucket } from './figures';

const rate = 6; // times as fast as life
const bars = { heap: 1_024, nodes: 100, listeners: 20 }; // KB, and counts
const every = 30; // s
const warmUp = 1 / 5; // of the time

const livePages = [
  { name: 'bucket', path: `/buckets/${watchedBucket()}` },
  { name: 'overview', path: '/overview' },
  { name: 'list of buckets', path: '/buckets?search=checkout-api' },
];

/** A page as it was after its garbage was collected. */
interface Look {
  at: number; // s
  heap: number; // KB
  nodes: number;
  listeners: number;
}

test('heap', async ({ browser, baseURL }) => {
  const seconds = Number(process.env.HEADGATE_BENCH_LIVE_SECONDS ?? 600);
  test.setTimeout((seconds + 300) * 1_000);
  const context = await browser.newContext({ baseURL: baseURL ?? '', locale: 'en-US', viewport: { width: 1440, height: 900 } });
  await login(context.request, 'admin');
  const watched = await Promise.all(livePages.map(({ path }) => open(context, path)));
  const looks: Look[][] = watched.map(() => []);
  const step = Math.min(every, seconds / 12);
  const began = Date.now();
  for (let at = 0; at <= seconds; at += step) {
    await watched[0]!.page.waitForTimeout(Math.max(0, began + at * 1_000 - Date.now()));
    for (const [i, { session }] of watched.entries()) looks[i]!.push({ at, ...(await look(session)) });
    const last = looks.map((all) => all.at(-1)!);
    console.log(`  ${Math.round(at)} s: ${livePages.map(({ name }, i) => `${name} ${last[i]!.heap.toFixed(0)} KB, ${last[i]!.nodes} nodes`).join('; ')}`);
  }
  const shown = Number(await watched[0]!.page.getByTestId('granted-per-second').textContent());
  expect(shown, 'permits granted per second at the end').toBeGreaterThan(0);
  for (const [i, { name }] of livePages.entries()) {
    const steady = looks[i]!.filter(({ at }) => at >= seconds * warmUp);
    const note = `after ${(seconds / 60).toFixed(0)} min; ${steady.at(-1)!.heap.toFixed(0)} KB`;
    tell({ what: `${name}: growth of the heap`, value: growth(steady, ({ heap }) => heap), unit: 'KB', bar: bars.heap, note });
    tell({ what: `${name}: growth of DOM nodes`, value: growth(steady, ({ nodes }) => nodes), unit: '', bar: bars.nodes });
    tell({ what: `${name}: growth of listeners`, value: growth(steady, ({ listeners }) => listeners), unit: '', bar: bars.listeners });
  }
  await context.close();
});

async function open(context: BrowserContext, path: string): Promise<{ page: Page; session: CDPSession }> {
  const page = await context.newPage();
  await hurry(page, { samples: rate, polls: rate });
  await page.goto(path);
  const session = await context.newCDPSession(page);
  return { page, session };
}

async function look(session: CDPSession): Promise<Omit<Look, 'at'>> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
  return { heap: usedSize / 1024, nodes, listeners: jsEventListeners };
}

/** What a figure grew by over the looks, on the line that fits them best by least squares. */
function growth(looks: readonly Look[], figure: (look: Look) => number): number {
  const mean = (of: (look: Look) => number) => looks.reduce((sum, one) => sum + of(one), 0) / looks.length;
  const [at, value] = [mean((one) => one.at), mean(figure)];
  const slope =
    looks.reduce((sum, one) => sum + (one.at - at) * (figure(one) - value), 0) / looks.reduce((sum, one) => sum + (one.at - at) ** 2, 0);
  return slope * (looks.at(-1)!.at - looks[0]!.at);
}
