// Logs in through the console's own button in a real Chromium, with web's Playwright: `node console.mjs URL SHOTS`.
// Ends with an error where a step does not come to what it should; leaves screenshots in the folder SHOTS.
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const [url, shots] = process.argv.slice(2);
const { chromium } = createRequire(new URL('../../web/package.json', import.meta.url))('@playwright/test');

const executablePath = execFileSync(fileURLToPath(new URL('../../scripts/chromium.sh', import.meta.url)), { encoding: 'utf8' }).trim();
const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
try {
  const page = await browser.newPage({ locale: 'en-US' });
  page.setDefaultTimeout(15_000);
  await page.goto(`${url}/apps`);
  await page.screenshot({ path: `${shots}/login.png` });
  await page.getByRole('link', { name: 'Log in with Acme' }).click();
  await page.locator('input[name=login]').fill('u-1');
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.locator('button[type=submit]').click(); // consent
  // The session's cookies are SameSite=Strict and this navigation began at the provider: the console must have them all the same.
  await page.getByRole('heading', { level: 1, name: 'Apps' }).waitFor();
  if (new URL(page.url()).pathname !== '/apps') throw new Error(`the login ended at ${page.url()}`);
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Apps' }).waitFor();

  const refused = await browser.newPage({ locale: 'zh-CN' });
  refused.setDefaultTimeout(15_000);
  await refused.goto(`${url}/api/v1/auth/oidc/callback?state=x&code=y`);
  await refused.getByRole('alert').waitFor();
  await refused.screenshot({ path: `${shots}/refused-zh.png` });
  console.log('done');
} finally {
  await browser.close();
}
