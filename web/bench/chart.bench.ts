import { expect, test, type Browser, type Page } from '@playwright/test';
import { login } from '../e2e/login';
import { hurry } from './faster';
import { tellRuns, watchedBucket } from './figures';
import { traceTasks, type Task } from './main-thread';

const bar = 8; // ms
const points = 1_440;
const after = 150; // ms within which an update's script, layout and paint are over
const updates = { day: 15, live: 30 };

test('chart', async ({ browser, baseURL }) => {
  const context = await browser.newContext({ baseURL: baseURL ?? '', locale: 'en-US', viewport: { width: 1440, height: 900 } });
  await login(context.request, 'admin');

  const day = await context.newPage();
  await hurry(day, { samples: 1, polls: 20, only: 60_000 }); // a day is asked for every minute: now every 3 s
  const answer = day.waitForResponse((response) => response.url().includes('/usage?range=24h'));
  await day.goto(`/buckets/${watchedBucket()}?range=24h`);
  const { items } = (await (await answer).json()) as { items: { minute: number; app: string }[] };
  expect(new Set(items.map(({ minute }) => minute)).size, 'points of the chart').toBeGreaterThanOrEqual(points - 1);
  const apps = new Set(items.map(({ app }) => app)).size;
  tellUpdates(`a day, ${points} points of ${apps} apps`, await answers(browser, day, updates.day));
  await day.close();

  const live = await context.newPage();
  await hurry(live, { samples: 1, polls: 1 });
  await live.goto(`/buckets/${watchedBucket()}`);
  await expect.poll(async () => Number(await live.getByTestId('granted-per-second').textContent()), { timeout: 30_000 }).toBeGreaterThan(0);
  tellUpdates('live seconds', await samples(browser, live, updates.live));
  await context.close();
});

interface Cost {
  took: number;
  computed: number;
}

/** What the main thread spent between two instants, and on what was under way at the first. */
function spent(tasks: readonly Task[], from: number, to: number): Cost {
  const within = tasks.filter((task) => task.at + task.took >= from && task.at <= to);
  return {
    took: within.reduce((sum, { took }) => sum + took, 0),
    computed: within.reduce((sum, { computed }) => sum + computed, 0),
  };
}

/** The cost of each answer with the usage of a day: reading it, and all that follows. */
async function answers(browser: Browser, page: Page, count: number): Promise<Cost[]> {
  const { tasks, marks } = await traceTasks(browser, page, async () => {
    for (let i = 0; i < count; i++) {
      await page.waitForResponse(async (response) => response.url().includes('/usage?') && (await response.finished()) === null);
    }
    await page.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, 2 * ms)), after);
  });
  const { began, ended } = await page.evaluate(() => ({
    began: performance.getEntriesByName('bench-present')[0]?.startTime ?? NaN,
    ended: performance
      .getEntriesByType('resource')
      .filter((entry): entry is PerformanceResourceTiming => entry.name.includes('/usage?'))
      .map(({ responseStart, responseEnd }) => ({ responseStart, responseEnd })),
  }));
  const offset = (marks.find(({ name }) => name === 'bench-present')?.at ?? NaN) - began;
  return ended
    .filter(({ responseStart }) => responseStart > began)
    .map(({ responseStart, responseEnd }) => spent(tasks, responseStart + offset, responseEnd + offset + after));
}

/** The cost of each sample of the event stream. */
async function samples(browser: Browser, page: Page, count: number): Promise<Cost[]> {
  const { tasks, marks } = await traceTasks(browser, page, async () => {
    await page.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), count * 1_000);
  });
  return marks.filter(({ name }) => name === 'sample').map(({ at }) => spent(tasks, at, at + after));
}

function tellUpdates(what: string, costs: readonly Cost[]): void {
  expect(costs.length, 'updates').toBeGreaterThan(5);
  const took = costs.map((cost) => cost.took).sort((a, b) => a - b);
  const note = `by the clock ${took[Math.floor(took.length / 2)]?.toFixed(1)} ms, at most ${took.at(-1)?.toFixed(1)} ms`;
  tellRuns(`one update of ${what}`, costs.map(({ computed }) => computed), bar, note);
}
