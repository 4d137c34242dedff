// The texts in parts, each loaded with the first page that shows it: all of them weigh as much as a page.

const en = {
  base: () => import('./en/base'),
  apps: () => import('./en/apps'),
  asOf: () => import('./en/asOf'),
  buckets: () => import('./en/buckets'),
  chain: () => import('./en/chain'),
  changes: () => import('./en/changes'),
  figures: () => import('./en/figures'),
  health: () => import('./en/health'),
  overview: () => import('./en/overview'),
  people: () => import('./en/people'),
  rules: () => import('./en/rules'),
  tokens: () => import('./en/tokens'),
  webhooks: () => import('./en/webhooks'),
};

/** A part of the texts; `base` is that of every page. */
export type Part = keyof typeof en;

const zh: Record<Part, () => Promise<object>> = {
  base: () => import('./zh/base'),
  apps: () => import('./zh/apps'),
  asOf: () => import('./zh/asOf'),
  buckets: () => import('./zh/buckets'),
  chain: () => import('./zh/chain'),
  changes: () => import('./zh/changes'),
  figures: () => import('./zh/figures'),
  health: () => import('./zh/health'),
  overview: () => import('./zh/overview'),
  people: () => import('./zh/people'),
  rules: () => import('./zh/rules'),
  tokens: () => import('./zh/tokens'),
  webhooks: () => import('./zh/webhooks'),
};

/** The parts of each language. */
export const parts = { en, 'zh-CN': zh } satisfies Record<string, Record<Part, () => Promise<object>>>;
