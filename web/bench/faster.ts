import type { Page } from '@playwright/test';

/** How much faster a page lives. */
export interface Pace {
  /** How often each sample of the server's event stream comes, spread over its second and with its time moved on. */
  samples: number;
  /** What is asked for again and again is asked for so many times as often, */
  polls: number;
  /** or only what is asked for this often, in ms. */
  only?: number;
}

declare global {
  interface Window {
    /** When each "sample" of a hurried page was delivered, by its own clock in ms. */
    benchSamples: number[];
  }
}

/** Makes a page live faster than it does, and notes when a sample came. */
export async function hurry(page: Page, pace: Pace): Promise<void> {
  await page.addInitScript(({ samples, polls, only }) => {
    const repeat = window.setInterval.bind(window);
    const hurried = (ms: number) => (only === undefined ? ms >= 1_000 : ms === only);
    window.setInterval = ((work: TimerHandler, ms = 0, ...args: unknown[]) => repeat(work, hurried(ms) ? ms / polls : ms, ...args)) as typeof window.setInterval;

    window.benchSamples = []; // a mark of the timeline would itself be work
    const listen = EventSource.prototype.addEventListener;
    EventSource.prototype.addEventListener = function (this: EventSource, type: string, listener: EventListener) {
      if (type !== 'sample') return listen.call(this, type, listener);
      const deliver = (event: MessageEvent) => {
        if (this.readyState === EventSource.CLOSED) return;
        window.benchSamples.push(performance.now());
        listener.call(this, event);
      };
      listen.call(this, type, (event) => {
        const { redis_time_us, ...sample } = JSON.parse((event as MessageEvent<string>).data) as { redis_time_us: number };
        for (let i = 0; i < samples; i++) {
          const data = JSON.stringify({ ...sample, redis_time_us: redis_time_us + Math.round((i * 1_000_000) / samples) });
          setTimeout(() => deliver(new MessageEvent('sample', { data })), (i * 1_000) / samples);
        }
      });
    } as typeof listen;
  }, pace);
}
