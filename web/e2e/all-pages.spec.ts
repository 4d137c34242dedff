import AxeBuilder from '@axe-core/playwright';
import { expect, test, type BrowserContext } from '@playwright/test';
import { login } from './login';
import { ensureSamples, looks, open, visits, wear, type Look } from './pages';
import type { Who } from './env';
import { Watch } from './violations';

// Every page in every look: no accessibility violation, no violation of the Content-Security-Policy, no uncaught
// error, nothing wider than the screen. A screenshot of each is left in e2e/screenshots, to be looked at by people.

test.describe.configure({ timeout: 300_000 });

test.beforeAll(async ({ playwright, baseURL }) => {
  const request = await playwright.request.newContext({ baseURL: baseURL ?? '' });
  await login(request, 'owner');
  await ensureSamples(request);
  await request.dispose();
});

for (const look of looks) {
  test(`pages are accessible and within the policy: ${look.name}`, async ({ browser, baseURL }) => {
    const contexts = new Map<Who | null, BrowserContext>();
    for (const visit of visits) {
      const context = contexts.get(visit.who) ?? (await newContext(visit.who, look));
      contexts.set(visit.who, context);
      const page = await context.newPage();
      const watch = new Watch(page);
      await wear(page, look);
      await test.step(visit.name, async () => {
        await open(page, visit);
        await page.screenshot({ path: `e2e/screenshots/${look.name}/${visit.name}.png`, fullPage: true });
        const found = await new AxeBuilder({ page }).analyze();
        const violations = found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((n) => n.html).join(' | ')}`);
        expect.soft(violations, `${visit.name} in ${look.name}`).toEqual([]);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect.soft(wide, `${visit.name} in ${look.name} is wider than the screen`).toBeLessThanOrEqual(0);
        watch.expectNone(`${visit.name} in ${look.name}`);
      });
      await page.close();
    }
    for (const context of contexts.values()) await context.close();

    async function newContext(who: Who | null, worn: Look): Promise<BrowserContext> {
      const context = await browser.newContext({
        baseURL: baseURL ?? '',
        viewport: { width: worn.width, height: worn.height },
        colorScheme: worn.scheme,
        reducedMotion: 'reduce',
      });
      if (who) await login(context.request, who);
      return context;
    }
  });
}
