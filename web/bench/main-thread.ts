import type { Browser, Page } from '@playwright/test';

/** One task of a page's main thread, in ms since the trace's own beginning. */
export interface Task {
  at: number;
  /** From its beginning to its end. */
  took: number;
  /** The part of it in which the thread had a processor: on a busy machine less than `took`. */
  computed: number;
}

/** An instant that the page marked, in the same time. */
export interface Mark {
  name: string;
  at: number;
}

interface TraceEvent {
  name: string;
  cat: string;
  ph: string;
  ts: number;
  dur?: number;
  tdur?: number;
  pid: number;
  tid: number;
}

const categories = ['disabled-by-default-devtools.timeline', 'blink.user_timing'];
/** The mark with which a trace begins. */
export const present = 'bench-present';

/** Has Chromium itself note every task of the page's main thread while `work` runs: script, layout, paint, collection of garbage. */
export async function traceTasks(browser: Browser, page: Page, work: () => Promise<void>): Promise<{ tasks: Task[]; marks: Mark[] }> {
  await browser.startTracing(page, { categories });
  try {
    await page.evaluate((name) => performance.mark(name), present);
    await work();
  } catch (error) {
    await browser.stopTracing();
    throw error;
  }
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const marked = traceEvents.find(({ name, cat }) => name === present && cat.includes('user_timing'));
  if (!marked) throw new Error('the trace lacks the page');
  // What comes before the mark is the beginning of the trace itself.
  const own = traceEvents.filter(({ pid, tid, ts }) => pid === marked.pid && tid === marked.tid && ts >= marked.ts);
  return {
    tasks: own.filter(({ name, ph }) => name === 'RunTask' && ph === 'X').map(({ ts, dur = 0, tdur = 0 }) => ({ at: ts / 1000, took: dur / 1000, computed: tdur / 1000 })),
    marks: own.filter(({ cat }) => cat.includes('user_timing')).map(({ name, ts }) => ({ name, at: ts / 1000 })),
  };
}
