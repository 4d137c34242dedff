import { expect, test as plain, type BrowserContext, type Page } from '@playwright/test';
import { violations } from './accessible';
import type { Who } from './env';
import { foreignWords } from './foreign-words';
import { login } from './login';
import { looks, open, speak, speakNow, wear, type Language, type Look } from './looks';
import { visits } from './pages';
import { Watch } from './violations';

// Every page in every look: no accessibility violation, no violation of the Content-Security-Policy, no uncaught
// error, nothing wider than the screen, no English sentence in Chinese. A page is opened once, and changes its size, its
// scheme and its language while it is open. HEADGATE_E2E_SCREENSHOTS leaves a screenshot of each in
// e2e/screenshots, to be looked at by people.

type Enter = (who: Who | null) => Promise<BrowserContext>;

/** One context a person, kept for all tests of a worker: a login costs more than a page. */
const test = plain.extend<object, { enter: Enter }>({
  enter: [
    async ({ browser }, use) => {
      const baseURL = process.env.HEADGATE_E2E_URL ?? '';
      const contexts = new Map<Who | null, BrowserContext>();
      await use(async (who) => {
        const known = contexts.get(who);
        if (known) return known;
        const made = await browser.newContext({ baseURL, viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
        if (who) await login(made.request, who);
        contexts.set(who, made);
        return made;
      });
      for (const context of contexts.values()) await context.close();
    },
    { scope: 'worker' },
  ],
});

test.describe.configure({ mode: 'parallel' });
test.use({ trace: 'off' }); // it would cost more than the checks

const widest = 2560;

for (const visit of visits) {
  test(`a page in every look: ${visit.name}`, async ({ enter }) => {
    const page = await (await enter(visit.who)).newPage();
    const watch = new Watch(page);
    await speak(page, 'en');
    await open(page, visit);
    for (const look of looks) await inspect(page, 'en', look, visit.name);
    await expectFitsWidest(page, visit.name); // in English, whose words are the longer ones
    await speakNow(page, 'zh-CN');
    for (const look of looks) await inspect(page, 'zh-CN', look, visit.name);
    expect.soft(await foreignWords(page), `English in ${visit.name}`).toEqual([]);
    watch.expectNone(visit.name);
    await page.close({ runBeforeUnload: false });
  });
}

const screenshots = Boolean(process.env.HEADGATE_E2E_SCREENSHOTS);

async function inspect(page: Page, language: Language, look: Look, name: string): Promise<void> {
  const where = `${name} in ${language}, ${look.name}`;
  const rules = look.rules[language];
  if (rules === null && !screenshots) return;
  await wear(page, look);
  if (screenshots) await page.screenshot({ path: `e2e/screenshots/${language}-${look.name}/${name}.png`, fullPage: true });
  if (rules) expect.soft(await violations(page, rules), where).toEqual([]);
  await expectFits(page, where);
}

async function expectFitsWidest(page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: widest, height: 1300 });
  await expectFits(page, `${name} at ${widest} px`);
}

async function expectFits(page: Page, where: string): Promise<void> {
  const [wide, cut] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    // What is fixed to the screen is cut off without making the page wider.
    const fixed = [...document.querySelectorAll('header button, header a, [role=dialog] button')];
    const beyond = fixed.filter((one) => one.getBoundingClientRect().right > clientWidth + 1);
    return [scrollWidth - clientWidth, beyond.map((one) => one.getAttribute('aria-label') ?? one.textContent)] as const;
  });
  expect.soft(wide, `${where} is wider than the screen`).toBeLessThanOrEqual(0);
  expect.soft(cut, `${where} is cut off at the side`).toEqual([]);
}
