import { expect, test, type Browser } from '@playwright/test';
import { budget, firstLoads } from '../scripts/first-load.mjs';
import type { Who } from './env';
import { login } from './login';
import { speak, type Language } from './looks';
import { sample } from './samples';

// What the first visit of a page transfers of scripts and style sheets, from a server that packs them, to a browser that has
// nothing yet; and that the build counts the same files.

interface Page {
  /** As the router has it. */
  path: string;
  at: string;
  who: Who | null;
  /** The page shows a chart. */
  chart?: boolean;
  /** What the page shows besides, as this bucket has no call yet. */
  besides?: RegExp;
}

const visited: Page[] = [
  { path: '/login', at: '/login', who: null },
  { path: '/overview', at: '/overview', who: 'owner' },
  { path: '/buckets', at: '/buckets', who: 'owner' },
  { path: '/buckets/:name/:tab?', at: `/buckets/${sample}`, who: 'owner', chart: true, besides: /WaitingForCall|snippets/ },
];

interface File {
  name: string;
  bytes: number;
  packed: boolean;
}

/** The scripts and style sheets of a first visit, once the page is there and the browser has nothing more to do. */
async function transferred(browser: Browser, { at, who, chart }: Page, language: Language, baseURL: string): Promise<File[]> {
  const context = await browser.newContext({ baseURL });
  if (who) await login(context.request, who);
  const page = await context.newPage();
  await speak(page, language);
  const under = new Set<string>();
  const done: Promise<File>[] = [];
  const asset = (url: string) => new URL(url).pathname.startsWith('/assets/');
  page.on('request', (request) => asset(request.url()) && under.add(request.url()));
  page.on('requestfailed', (request) => under.delete(request.url()));
  page.on('requestfinished', (request) => {
    if (!asset(request.url())) return;
    done.push(
      (async () => {
        const [{ responseBodySize: bytes }, response] = await Promise.all([request.sizes(), request.response()]);
        const packed = (await response?.headerValue('content-encoding')) === 'gzip';
        return { name: new URL(request.url()).pathname.slice(1), bytes, packed };
      })(),
    );
    under.delete(request.url());
  });
  await page.goto(at);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await expect(page.locator('[aria-busy=true], .mantine-Skeleton-root')).toHaveCount(0);
  if (chart) await page.locator('canvas').first().waitFor();
  await expect(async () => {
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    expect(under.size).toBe(0);
  }).toPass();
  const files = await Promise.all(done);
  await context.close();
  return files;
}

for (const language of ['en', 'zh-CN'] as const) {
  for (const page of visited) {
    test(`the first load of ${page.path} in ${language} is within its budget, and what the build counts`, async ({ browser, baseURL }) => {
      const files = await transferred(browser, page, language, baseURL ?? '');
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      console.log(`first load of ${page.path} in ${language}: ${(bytes / 1024).toFixed(1)} KB in ${files.length} files`);
      expect(bytes).toBeLessThanOrEqual(budget);
      expect(files.filter((file) => !file.packed && file.bytes > 400), 'sent as they are').toEqual([]);
      const counted = firstLoads(language).find(({ path }) => path === page.path)?.files;
      expect(files.map(({ name }) => name).filter((name) => !page.besides?.test(name)).sort()).toEqual(counted);
    });
  }
}
