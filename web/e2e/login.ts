import { expect, type APIRequestContext, type Page } from '@playwright/test';
import { logins, type Who } from './env';

/** Logs in through the form. The language is English here. */
export async function loginByForm(page: Page, who: Who): Promise<void> {
  const { name, password } = logins()[who];
  await page.locator('input[name=username]').fill(name);
  await page.locator('input[name=password]').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible();
}

/** Logs in through the API; the cookies then belong to the page's context. */
export async function login(request: APIRequestContext, who: Who): Promise<void> {
  const answer = await request.post('/api/v1/auth/login', { data: logins()[who] });
  expect(answer.status(), `login as ${who}`).toBe(200);
}
