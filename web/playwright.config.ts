import { execFileSync } from 'node:child_process';
import { defineConfig } from '@playwright/test';

/** The system's Chromium: HEADGATE_TEST_CHROMIUM, or the first one found on PATH. */
function chromium(): string {
  const named = process.env.HEADGATE_TEST_CHROMIUM;
  if (named) return named;
  for (const name of ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      // not this one
    }
  }
  throw new Error('no Chromium found: install one, or name it in HEADGATE_TEST_CHROMIUM');
}

function server(name: string): string {
  const url = process.env[name];
  if (!url) throw new Error(`${name} must name a running Headgate`);
  return url;
}

// These silence Redis, take the database away, lift the limits, or count what an endpoint is told of all changes: they have a
// server of their own, one after the other.
const alone = ['system.spec.ts', 'glass.spec.ts', 'webhooks.spec.ts'];
// Many small tests, which fill what the long ones leave; and one that waits for minutes that have passed by then.
const pages = ['all-pages.spec.ts', 'failing.spec.ts'];
const told = ['open-alert.spec.ts'];
const own = { baseURL: server('HEADGATE_E2E_ALONE_URL') };

const root = process.getuid?.() === 0;

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  fullyParallel: false,
  workers: 3, // two cores: the third has work where others wait for minutes to pass
  projects: [
    { name: 'samples', testMatch: 'samples.setup.ts' },
    { name: 'alone-samples', testMatch: 'samples.setup.ts', use: own },
    { name: 'alone', testMatch: alone, workers: 1, use: own, dependencies: ['alone-samples'] },
    { name: 'beside', testIgnore: [...alone, ...pages, ...told, 'samples.setup.ts'], dependencies: ['samples'] },
    { name: 'told', testMatch: told, dependencies: ['samples'] },
    { name: 'pages', testMatch: pages, dependencies: ['samples'] },
  ],
  retries: 0,
  timeout: 120_000,
  expect: { timeout: 10_000 },
  forbidOnly: true,
  // The JSON report goes to the file that PLAYWRIGHT_JSON_OUTPUT_FILE names, for `make test` to count.
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_FILE ? [['list'], ['json']] : [['list']],
  use: {
    baseURL: server('HEADGATE_E2E_URL'),
    locale: 'en-US',
    viewport: { width: 1280, height: 800 },
    actionTimeout: 15_000,
    navigationTimeout: 30_000,
    screenshot: 'only-on-failure',
    trace: process.env.HEADGATE_E2E_TRACE ? 'retain-on-failure' : 'off', // it takes as long again as the tests
    launchOptions: {
      executablePath: chromium(),
      args: [
        ...(root ? ['--no-sandbox'] : []), // Chromium's sandbox does not work for root
        '--disable-background-networking',
        '--disable-component-update',
        '--no-first-run',
        '--disable-sync',
      ],
    },
  },
});
