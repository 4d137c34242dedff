import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { PlaywrightTestOptions, PlaywrightWorkerOptions } from '@playwright/test';

const chromium = execFileSync(fileURLToPath(new URL('../scripts/chromium.sh', import.meta.url)), { encoding: 'utf8' }).trim();

/** The address of a server that a variable of the environment names. */
export function server(name: string): string {
  const url = process.env[name];
  if (!url) throw new Error(`${name} must name a running Headgate`);
  return url;
}

const root = process.getuid?.() === 0;

/** How browser tests and the console's benchmarks browse. */
export const use: Partial<PlaywrightTestOptions & PlaywrightWorkerOptions> = {
  baseURL: server('HEADGATE_E2E_URL'),
  locale: 'en-US',
  viewport: { width: 1280, height: 800 },
  actionTimeout: 15_000,
  navigationTimeout: 30_000,
  screenshot: 'only-on-failure',
  trace: process.env.HEADGATE_E2E_TRACE ? 'retain-on-failure' : 'off', // it takes as long again as the tests
  launchOptions: {
    executablePath: chromium,
    args: [
      ...(root ? ['--no-sandbox'] : []), // Chromium's sandbox does not work for root
      '--disable-background-networking',
      '--disable-component-update',
      '--no-first-run',
      '--disable-sync',
    ],
  },
};
