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
  /** What axe is asked in each language; null where other looks answer all. */
  rules: Record<Language, Rules | null>;
}

const wide = { width: 1280, height: 800 };
const narrow = { width: 360, height: 740 };

/**
 * Each language in both schemes and both widths, told by a file name. axe is asked of all but colours in each width and each
 * language, and of colours in each width and each scheme: a scheme changes nothing else, and a language no colour.
 */
export const looks: Look[] = [
  { name: 'light', scheme: 'light', ...wide, rules: { en: 'all', 'zh-CN': 'structure' } },
  { name: 'dark', scheme: 'dark', ...wide, rules: { en: 'colours', 'zh-CN': null } },
  { name: 'narrow-dark', scheme: 'dark', ...narrow, rules: { en: 'all', 'zh-CN': 'structure' } },
  { name: 'narrow', scheme: 'light', ...narrow, rules: { en: 'colours', 'zh-CN': null } },
];

const schemeKey = 'mantine-color-scheme-value';
const languageKey = 'headgate.language';

/** Sets the language before the console starts, whenever the page is loaded. */
export async function speak(page: Page, language: Language): Promise<void> {
  await page.addInitScript(([key, chosen]) => localStorage.setItem(key, chosen), [languageKey, language] as const);
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

/** Has an open page speak another language, as its user would in another tab. */
export async function speakNow(page: Page, language: Language): Promise<void> {
  await elsewhere(page, languageKey, language);
  await expect(page.locator(`html[lang=${language}]`)).toHaveCount(1);
}

/** What another tab does to the storage of all, and what an open page hears of it. */
async function elsewhere(page: Page, key: string, value: string): Promise<void> {
  await page.evaluate(([key, value]) => {
    localStorage.setItem(key, value);
    dispatchEvent(new StorageEvent('storage', { key, newValue: value, storageArea: localStorage }));
  }, [key, value] as const);
}

/** Dresses an open page as its user would: by another size of the window, and by the scheme chosen in another tab. */
export async function wear(page: Page, look: Look): Promise<void> {
  await page.setViewportSize(look);
  await elsewhere(page, schemeKey, look.scheme);
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
