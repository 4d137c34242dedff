import { defineConfig } from '@playwright/test';
import { server, use } from './browser.config';

// These silence Redis, take the database away, lift the limits, or count what an endpoint is told of all changes: they have a
// server of their own, one after the other.
const alone = ['system.spec.ts', 'glass.spec.ts', 'webhooks.spec.ts'];
// Many small tests, which fill what the long ones leave; and one that waits for minutes that have passed by then.
const pages = ['all-pages.spec.ts', 'failing.spec.ts'];
const told = ['open-alert.spec.ts'];
const own = { baseURL: server('HEADGATE_E2E_ALONE_URL') };

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
  // The JSON report goes to the file that PLAYWRIGHT_JSON_OUTPUT_FILE names, for `make test` to count; the failures to a file
  // that scripts/test-e2e.sh prints behind the servers' logs.
  reporter: [
    ['list'],
    ['./failures.reporter.ts', { file: 'test-results/failures.txt' }],
    ...(process.env.PLAYWRIGHT_JSON_OUTPUT_FILE ? ([['json']] as const) : []),
  ],
  use,
});
