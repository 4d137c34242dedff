import { expect, type Page } from '@playwright/test';
import type { Rules } from './accessible';
import type { Visit } from './pages';

export type Language = 'en' | 'zh-CN';

/** How a page is looked at. */
export interface Look {
  name: string;
  scheme: 'light' | 'dark';
  width: number;
  height: number;
  /** What axe is asked in each language. Nothing for what other looks have answered. */
  rules: Record<Language, Rules | null>;
}

const wide = { width: 1280, height: 800 };
const narrow = { width: 360, height: 740 };

/**
 * Each language in both schemes and both widths, told by a file name. axe is asked everything once in each width and each
 * language, and of the colours in each scheme and width: a scheme changes nothing else, and a language no colour.
 */
export const looks: Look[] = [
  { name: 'light', scheme: 'light', ...wide, rules: { en: 'all', 'zh-CN': 'all' } },
  { name: 'dark', scheme: 'dark', ...wide, rules: { en: 'colours', 'zh-CN': null } },
  { name: 'narrow-dark', scheme: 'dark', ...narrow, rules: { en: 'all', 'zh-CN': 'all' } },
  { name: 'narrow', scheme: 'light', ...narrow, rules: { en: 'colours', 'zh-CN': null } },
];

const schemeKey = 'mantine-color-scheme-value';

/** Sets the language before the console starts. */
export async function speak(page: Page, language: Language): Promise<void> {
  await page.addInitScript((chosen) => localStorage.setItem('headgate.language', chosen), language);
}

/** Opens a page and waits until it has its content and its fonts, and nothing moves any more. */
export async function open(page: Page, visit: Visit): Promise<void> {
  await page.goto(visit.path);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await expect(page.locator('[aria-busy=true], .mantine-Skeleton-root')).toHaveCount(0);
  await visit.prepare?.(page);
  await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0);
  await still(page);
}

/** Dresses an open page as its user would: by another size of the window, and by the scheme chosen in another tab. */
export async function wear(page: Page, look: Look): Promise<void> {
  await page.setViewportSize(look);
  await page.evaluate(([key, scheme]) => {
    localStorage.setItem(key, scheme);
    dispatchEvent(new StorageEvent('storage', { key, newValue: scheme, storageArea: localStorage }));
  }, [schemeKey, look.scheme] as const);
  await expect(page.locator(`html[data-mantine-color-scheme=${look.scheme}]`)).toHaveCount(1);
  await still(page);
}

/** Waits for two frames, and until nothing moves any more but what always moves, such as a sign of waiting. */
async function still(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    const moving = document.getAnimations().filter((one) => Number.isFinite(one.effect?.getComputedTiming().endTime));
    await Promise.all(moving.map((one) => one.finished.catch(() => null)));
  });
}
