import type { Page } from '@playwright/test';

declare global {
  interface Window {
    benchUsable: (selector: string, rows: number) => Promise<number>;
  }
}

/** Gives every page of the context a way to wait for rows that are on the screen and take the focus. */
export async function watchRows(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const ready = (selector: string, rows: number) => {
      const found = document.querySelectorAll<HTMLElement>(selector);
      const first = found[0];
      if (found.length < rows || !first || first.getBoundingClientRect().height === 0 || first.getBoundingClientRect().top > innerHeight) return false;
      const before = document.activeElement;
      first.focus({ preventScroll: true });
      const took = document.activeElement === first;
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
      return took;
    };
    window.benchUsable = (selector, rows) =>
      new Promise((resolve) => {
        const look = () => {
          // The frame with the rows is on the screen once the next one begins.
          if (ready(selector, rows)) requestAnimationFrame((at) => resolve(Math.max(at, performance.now())));
          else requestAnimationFrame(look);
        };
        look();
      });
  });
}

/** Time from the navigation's start, or from `since` by the page's clock, until the rows are usable, in ms. */
export async function usableAfter(page: Page, selector: string, rows: number, since = 0): Promise<number> {
  return page.evaluate(async ([s, n, from]) => (await window.benchUsable(s, n)) - from, [selector, rows, since] as const);
}
