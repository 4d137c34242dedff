import { defineConfig } from '@playwright/test';
import base from '../playwright.config';

/** What `make bench-console` runs: one part a file, in the order of their names, one page at a time. */
export default defineConfig({
  ...base,
  testDir: '.',
  testMatch: '*.bench.ts',
  outputDir: '../test-results/bench',
  timeout: 600_000,
  reporter: [['./reporter.ts']],
  use: { ...base.use, trace: 'off', viewport: { width: 1440, height: 900 } },
});
