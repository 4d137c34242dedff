import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** Which of axe's rules are asked: all, only those whose answer depends on colours, or all but those. */
export type Rules = 'all' | 'colours' | 'structure';

const colours = ['color-contrast', 'link-in-text-block'];
const asked: Record<Rules, Parameters<AxeBuilder['options']>[0]> = {
  all: {},
  colours: { runOnly: { type: 'rule', values: colours } },
  structure: { rules: Object.fromEntries(colours.map((rule) => [rule, { enabled: false }])) },
};

/** What axe finds wrong with the page as it is now, a rule a line, with the places. */
export async function violations(page: Page, rules: Rules = 'all'): Promise<string[]> {
  // The rules are half a megabyte of script: a page that has them already is not given them again.
  const there = await page.evaluate(() => 'axe' in window);
  // There are no frames, so the answers need no page of their own to be put together in.
  const builder = new AxeBuilder({ page, ...(there ? { axeSource: '0' } : {}) }).setLegacyMode();
  builder.options({ resultTypes: ['violations'], preload: false, ...asked[rules] });
  const found = (await builder.analyze()).violations;
  return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`);
}
