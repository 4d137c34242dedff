import { expect, test, type Browser, type BrowserContext, type Locator, type Page } from '@playwright/test';
import type { Who } from './env';
import { foreignWords } from './foreign-words';
import { login } from './login';
import { speak } from './looks';
import { sample, webhook } from './samples';
import { Watch } from './violations';

// What a Chinese reader is told when something goes wrong is Chinese too: a page or a part of it that cannot be had, what
// one may not see, a link to what is not there or makes no sense, and a refusal of whatever a form sends.

test.describe.configure({ mode: 'parallel' });

const patience = { timeout: 30_000 }; // a page is read, not timed

const people: Partial<Record<Who, BrowserContext>> = {};

async function context(browser: Browser, who: Who): Promise<BrowserContext> {
  const baseURL = process.env.HEADGATE_E2E_URL ?? '';
  const made = (people[who] ??= await browser.newContext({ baseURL, locale: 'zh-CN' }));
  if ((await made.cookies()).length === 0) await login(made.request, who);
  return made;
}

test.afterAll(async () => {
  for (const [who, made] of Object.entries(people)) {
    delete people[who as Who];
    await made.close();
  }
});

interface Where {
  who: Who;
  path: string;
}

/** Opens a page in Chinese, once `prepare` is done, hands it to `look`, and finds no English on it. */
async function inChinese(browser: Browser, { who, path }: Where, look: (page: Page) => Promise<void>, prepare?: (page: Page) => Promise<void>): Promise<void> {
  const page = await (await context(browser, who)).newPage();
  const watch = new Watch(page);
  await speak(page, 'zh-CN');
  await prepare?.(page);
  await page.goto(path);
  await look(page);
  expect(await foreignWords(page), `English on ${path}`).toEqual([]);
  watch.expectNone(path);
  await page.close({ runBeforeUnload: false });
}

const pages: Where[] = [
  { who: 'owner', path: '/overview' },
  { who: 'owner', path: '/buckets' },
  { who: 'owner', path: `/buckets/${sample}` },
  { who: 'owner', path: `/buckets/${sample}/history` },
  { who: 'owner', path: `/buckets/${sample}/use` },
  { who: 'owner', path: `/buckets/${sample}/settings` },
  { who: 'owner', path: `/buckets/${sample}/edit` },
  { who: 'owner', path: '/deleted' },
  { who: 'owner', path: '/apps' },
  { who: 'owner', path: '/apps/checkout' },
  { who: 'owner', path: '/tokens' },
  { who: 'owner', path: '/alerts' },
  { who: 'owner', path: '/profile' },
  { who: 'admin', path: '/people' },
  { who: 'admin', path: '/webhooks' },
  { who: 'admin', path: `/webhooks/${webhook}` },
  { who: 'auditor', path: '/audit' },
  { who: 'auditor', path: '/system' },
];

const failure = (code: string, status: number) => ({
  status,
  contentType: 'application/problem+json',
  body: JSON.stringify({ status, code, title: 'Some English title', detail: 'some words in English', request_id: 'req-of-a-failure' }),
});

/** Makes every answer but that to "who am I" a failure, as a server whose parts fail answers. */
async function fail(page: Page, code: string, status: number): Promise<void> {
  await page.route(/\/api\/v1\/(?!auth\/me$)/, (route) => route.fulfill(failure(code, status)));
}

test.describe('a page that cannot be had', () => {
  for (const where of pages) {
    test(`is Chinese: ${where.path}`, async ({ browser }) => {
      const told = (page: Page) => expect(page.getByText(/服务器出现错误|未能|操作未成功|暂时/).first()).toBeVisible(patience);
      await inChinese(browser, where, told, (page) => fail(page, 'internal', 500));
    });
  }
});

test('a page whose refresh fails is Chinese', async ({ browser }) => {
  await inChinese(browser, { who: 'owner', path: `/buckets/${sample}/definition` }, async (page) => {
    await expect(page.getByRole('heading', { level: 1, name: sample })).toBeVisible(patience);
    await fail(page, 'unavailable', 503);
    await expect(page.getByText('本页未能刷新')).toBeVisible({ timeout: 40_000 });
  });
});

test('what one may not see, and what is not there, is Chinese', async ({ browser }) => {
  for (const path of ['/people', '/system', '/webhooks', '/audit', '/as-of']) {
    await inChinese(browser, { who: 'owner', path }, (page) => expect(page.getByRole('heading', { name: '无权查看' })).toBeVisible(patience));
  }
  for (const path of ['/buckets/not-there', '/buckets/not-there/edit', `/buckets/${sample}/no-tab`, '/apps/not-there', '/webhooks/not-there', '/no/page']) {
    await inChinese(browser, { who: 'admin', path }, (page) => expect(page.getByRole('heading', { name: '这里什么也没有' })).toBeVisible(patience));
  }
});

test('links that make no sense are answered in Chinese', async ({ browser }) => {
  const links: Where[] = [
    ...['sort=bogus', 'cursor=bogus', 'mode=bogus', 'sync=bogus', 'label=%3D', 'app=no%20name'].map((query) => ({ who: 'owner' as const, path: `/buckets?${query}` })),
    { who: 'owner', path: '/deleted?cursor=bogus' },
    { who: 'owner', path: '/apps?cursor=bogus' },
    { who: 'owner', path: '/alerts?cursor=bogus' },
    { who: 'admin', path: '/people?role=bogus' },
    { who: 'admin', path: '/people?sort=bogus' },
    { who: 'admin', path: '/tokens?all=true&cursor=bogus' },
    { who: 'auditor', path: '/audit?action=bogus' },
    { who: 'auditor', path: '/audit?target_kind=bogus' },
    { who: 'auditor', path: '/audit?cursor=bogus' },
  ];
  for (const link of links) {
    await inChinese(browser, link, async (page) => {
      await expect(page.getByRole('heading', { level: 1 }), link.path).toBeVisible(patience);
      await expect(page.locator('[aria-busy=true], .mantine-Skeleton-root')).toHaveCount(0);
    });
  }
});

interface Form extends Where {
  /** Fills in what must be filled in, and sends. */
  send: (page: Page) => Promise<void>;
  /** Where it says what was refused. */
  at: (page: Page) => Locator;
}

const dialog = (page: Page) => page.getByRole('dialog').first();
const submit = (within: Locator) => within.locator('button[type=submit]').last().click();

const forms: Record<string, Form> = {
  bucket: {
    who: 'owner',
    path: `/create/bucket?from=${sample}`,
    send: async (page) => {
      const form = page.locator('form');
      await form.getByRole('textbox').first().fill('refused-in-chinese');
      await form.getByRole('textbox', { name: '原因' }).fill('试一试');
      await submit(form);
    },
    at: (page) => page.locator('form'),
  },
  app: { who: 'admin', path: '/apps/checkout?open=edit', send: (page) => submit(dialog(page)), at: dialog },
  person: { who: 'admin', path: '/people?open=edit:sam', send: (page) => submit(dialog(page)), at: dialog },
  webhook: {
    who: 'admin',
    path: `/webhooks/${webhook}?open=edit`,
    send: (page) => submit(dialog(page)),
    at: dialog,
  },
  token: {
    who: 'owner',
    path: '/tokens?open=new',
    send: async (page) => {
      await dialog(page).getByRole('textbox').first().fill('refused');
      await submit(dialog(page));
    },
    at: dialog,
  },
  name: {
    who: 'owner',
    path: '/profile',
    send: async (page) => {
      const form = page.locator('form').first();
      await form.getByRole('textbox').first().fill('Olivia O');
      await submit(form);
    },
    at: (page) => page.locator('form').first(),
  },
};

type Body = Record<string, unknown>;

/** What becomes of what a form sends, so that the server's framework finds fault with it before a rule of Headgate does. */
const spoilers: Record<string, (body: Body) => Body> = {
  'nothing of what is required': () => ({}),
  'values of another kind': (body) => Object.fromEntries(Object.keys(body).map((name) => [name, { of: 'another kind' }])),
  'a field that there is not': (body) => ({ ...body, colour: 'green' }),
};

for (const [name, form] of Object.entries(forms)) {
  test(`the form of a ${name} says in Chinese what the server refuses`, async ({ browser }) => {
    for (const [what, spoil] of Object.entries(spoilers)) {
      await inChinese(browser, form, async (page) => {
        await form.at(page).waitFor();
        await page.route('**/api/v1/**', async (route) => {
          const request = route.request();
          if (request.method() === 'GET') return route.continue();
          return route.continue({ postData: JSON.stringify(spoil((request.postDataJSON() ?? {}) as Body)) });
        });
        const answer = page.waitForResponse((response) => response.request().method() !== 'GET');
        await form.send(page);
        expect((await answer).status(), what).toBeGreaterThanOrEqual(400);
        await expect(form.at(page).locator('[role=alert], [aria-invalid=true]').first(), `${name}, ${what}`).toBeVisible();
      });
    }
  });
}
