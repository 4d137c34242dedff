import { expect, type Page } from '@playwright/test';

/** Collects what must not happen on any page: violations of the Content-Security-Policy, and uncaught errors. */
export class Watch {
  private readonly seen: string[] = [];

  constructor(page: Page) {
    page.on('console', (message) => {
      if (/content security policy|violates the following/i.test(message.text())) this.seen.push(message.text());
    });
    page.on('pageerror', (error) => this.seen.push(String(error)));
  }

  expectNone(where: string): void {
    expect(this.seen, where).toEqual([]);
  }
}
