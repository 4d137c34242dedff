import { defineConfig } from '@playwright/test';
import { use } from '../browser.config';

/** What `make bench-console` runs: one part a file, in the order of their names, one page at a time. */
export default defineConfig({
  testDir: '.',
  testMatch: '*.bench.ts',
  outputDir: '../test-results/bench',
  workers: 1,
  timeout: 600_000,
  expect: { timeout: 10_000 },
  forbidOnly: true,
  reporter: [['./reporter.ts']],
  use: { ...use, trace: 'off', viewport: { width: 1440, height: 900 } },
});
