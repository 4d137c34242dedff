import { expect, test, type Browser, type Page } from '@playwright/test';
import { login } from '../e2e/login';
import { hurry } from './faster';
import { tellRuns, watchedBucket } from './figures';
import { present, traceTasks, type Task } from './main-thread';

const bar = 8; // ms
const points = 1_440;
const after = 150; // ms within which an update's script, layout and paint are over
const updates = { day: 15, live: 45 };

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
  // Its older minutes are asked for again for the first time after half a minute, then as often as the newest.
  await day.waitForResponse((response) => response.url().includes('until='), { timeout: 60_000 });
  const beside = await costs(browser, day, async () => {
    for (let i = 0; i < updates.day; i++) {
      await day.waitForResponse(async (response) => /\/usage\?minutes=\d+$/.test(response.url()) && (await response.finished()) === null);
    }
    await day.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, 2 * ms)), after);
  });
  tellUpdates(`a day, ${points} points of ${apps} apps`, beside.answers);
  tellUpdates('the older minutes of a day, asked for again', beside.older);
  tellUpdates('the seconds beside a day', beside.samples);
  await day.close();

  const live = await context.newPage();
  await hurry(live, { samples: 1, polls: 1 });
  await live.goto(`/buckets/${watchedBucket()}`);
  await expect.poll(async () => Number(await live.getByTestId('granted-per-second').textContent()), { timeout: 30_000 }).toBeGreaterThan(0);
  const seconds = await costs(browser, live, () => live.waitForTimeout(updates.live * 1_000));
  tellUpdates('live seconds', seconds.samples);
  tellUpdates('the minutes before live seconds', seconds.answers);
  await context.close();
});

interface Cost {
  took: number;
  computed: number;
}

interface Arrival {
  kind: 'answers' | 'older' | 'samples';
  from: number;
  to: number;
}

/**
 * What the main thread spent on each answer with usage, and on each sample of the event stream, that came during `work`:
 * all that it did, whatever for, from the arrival on until the page had the time to draw it, or until the next arrival.
 */
async function costs(browser: Browser, page: Page, work: () => Promise<void>): Promise<Record<Arrival['kind'], Cost[]>> {
  const { tasks, marks } = await traceTasks(browser, page, work);
  const seen = await page.evaluate((mark) => {
    const began = performance.getEntriesByName(mark).at(-1)?.startTime ?? NaN; // each measurement marks anew
    const taken = ({ responseStart, responseEnd }: PerformanceResourceTiming) => ({ from: responseStart, to: responseEnd });
    const asked = performance.getEntriesByType('resource').filter((entry): entry is PerformanceResourceTiming => entry.name.includes('/usage?'));
    return {
      began,
      answers: asked.filter(({ name }) => !name.includes('until=')).map(taken),
      older: asked.filter(({ name }) => name.includes('until=')).map(taken),
      samples: window.benchSamples.map((at) => ({ from: at, to: at })),
    };
  }, present);
  const offset = (marks.find(({ name }) => name === present)?.at ?? NaN) - seen.began;
  const arrivals = (['answers', 'older', 'samples'] as const)
    .flatMap((kind) => seen[kind].map((arrival): Arrival => ({ kind, ...arrival })))
    .filter(({ from }) => from > seen.began)
    .sort((a, b) => a.from - b.from);
  const found: Record<Arrival['kind'], Cost[]> = { answers: [], older: [], samples: [] };
  arrivals.forEach(({ kind, from, to }, index) => {
    found[kind].push(spent(tasks, from + offset, Math.min(to + after, arrivals[index + 1]?.from ?? Infinity) + offset));
  });
  return found;
}

/** What the main thread spent between two instants, and on what was under way at the first. */
function spent(tasks: readonly Task[], from: number, to: number): Cost {
  const within = tasks.filter((task) => task.at + task.took >= from && task.at < to);
  return {
    took: within.reduce((sum, { took }) => sum + took, 0),
    computed: within.reduce((sum, { computed }) => sum + computed, 0),
  };
}

function tellUpdates(what: string, costs: readonly Cost[]): void {
  expect(costs.length, 'updates').toBeGreaterThan(5);
  const took = costs.map((cost) => cost.took).sort((a, b) => a - b);
  const note = `by the clock ${took[Math.floor(took.length / 2)]?.toFixed(1)} ms, at most ${took.at(-1)?.toFixed(1)} ms`;
  tellRuns(`one update of ${what}`, costs.map(({ computed }) => computed), bar, note);
}
