import { expect, type Page } from '@playwright/test';
import type { Who } from './env';
import { deleted, long, sample, slots, webhook } from './samples';

/** A page of the console, as the checks of all pages visit it. What it has to press is found in either language. */
export interface Visit {
  name: string;
  path: string;
  who: Who | null;
  /** Brings the page into the state to look at. */
  prepare?: (page: Page) => Promise<void>;
}

/** A dialog, whose being open is in the URL or which a click has opened. */
const dialog = (page: Page) => page.getByRole('dialog').waitFor();

/** Presses the button with this icon, and waits for the dialog that it opens. */
const pressed = (icon: string) => async (page: Page) => {
  await page.locator(`main button:has(.tabler-icon-${icon})`).last().click();
  await dialog(page);
};

/** Presses the button of this text, in whichever language, and waits for the dialog that it opens. */
const saying = (text: RegExp) => async (page: Page) => {
  await page.getByRole('main').getByRole('button', { name: text }).first().click();
  await dialog(page);
};

/** Opens one of the menus of the page's head, or of the page itself. */
const menu = (within: 'header' | 'main', nth: number) => async (page: Page) => {
  await page.locator(`${within} button[aria-haspopup=menu]`).nth(nth).click();
  await page.getByRole('menu').waitFor();
};

const figuresThere = async (page: Page) => {
  await expect(page.getByTestId('granted-per-second')).not.toHaveText('–');
};

const now = async (page: Page) => {
  const at = new Date();
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  await page.locator('input[type=datetime-local]').fill(local);
  await page.getByRole('table').waitFor();
};

const bulkDialog = async (page: Page) => {
  await page.locator('thead input[type=checkbox]').click();
  await page.getByRole('main').getByRole('button', { name: /^(Edit|批量编辑)/ }).click();
  await dialog(page);
};

const around: Visit[] = [
  { name: 'login', path: '/login', who: null },
  {
    name: 'login-refused',
    path: '/login',
    who: null,
    prepare: async (page) => {
      await page.locator('input[name=username]').fill('nobody');
      await page.locator('input[name=password]').fill('not the password');
      await page.locator('button[type=submit]').click();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'overview', path: '/overview', who: 'owner' },
  { name: 'overview-admin', path: '/overview', who: 'admin' },
  { name: 'overview-none', path: '/overview', who: 'stranger' },
  { name: 'menu-languages', path: '/profile', who: 'owner', prepare: menu('header', 0) },
  { name: 'menu-schemes', path: '/profile', who: 'owner', prepare: menu('header', 1) },
  { name: 'menu-account', path: '/profile', who: 'owner', prepare: menu('header', 2) },
  { name: 'alerts', path: '/alerts', who: 'owner' },
  { name: 'profile', path: '/profile', who: 'owner' },
  { name: 'not-found', path: '/buckets/e2e-not-there', who: 'owner' },
  { name: 'no-page', path: '/no/such/page', who: 'owner' },
  { name: 'forbidden', path: '/people', who: 'owner' },
  {
    name: 'palette',
    path: '/buckets',
    who: 'admin',
    prepare: async (page) => {
      await page.keyboard.press('Control+k');
      await dialog(page);
      await page.getByRole('option').first().waitFor();
    },
  },
  {
    name: 'shortcuts',
    path: '/buckets',
    who: 'admin',
    prepare: async (page) => {
      await page.keyboard.press('?');
      await dialog(page);
    },
  },
  {
    name: 'leave-question',
    path: '/create/bucket',
    who: 'owner',
    prepare: async (page) => {
      await page.locator('form input').first().fill('half-typed');
      await page.getByRole('navigation').getByRole('link').first().click();
      await dialog(page);
    },
  },
];

const lists: Visit[] = [
  { name: 'buckets', path: '/buckets', who: 'owner' },
  { name: 'buckets-columns', path: '/buckets', who: 'owner', prepare: menu('main', 0) },
  { name: 'buckets-export', path: '/buckets', who: 'owner', prepare: menu('main', 1) },
  { name: 'buckets-long', path: '/buckets?search=e2e-long', who: 'owner' },
  { name: 'buckets-no-match', path: '/buckets?search=nothing-like-this', who: 'owner' },
  { name: 'buckets-none', path: '/buckets', who: 'stranger' },
  { name: 'bulk', path: '/buckets?search=e2e-s', who: 'owner', prepare: bulkDialog },
  {
    name: 'bulk-review',
    path: '/buckets?search=e2e-s',
    who: 'owner',
    prepare: async (page) => {
      await bulkDialog(page);
      const form = page.getByRole('dialog');
      await form.getByPlaceholder('team=payments').fill('batch=first');
      await page.keyboard.press('Enter');
      await form.locator('button[type=submit]').click();
      await form.getByRole('region').first().waitFor();
    },
  },
  { name: 'deleted', path: '/deleted', who: 'owner' },
  { name: 'deleted-none', path: '/deleted?search=nothing-like-this', who: 'owner' },
  { name: 'bucket-restore', path: `/deleted?open=restore:${deleted}`, who: 'owner', prepare: dialog },
];

const editing: Visit[] = [
  { name: 'bucket-create', path: '/create/bucket', who: 'owner' },
  {
    name: 'bucket-create-slots',
    path: '/create/bucket',
    who: 'owner',
    prepare: async (page) => {
      await page.locator('input[value=concurrency]').click();
      await page.locator('input[value=app_key]').click();
    },
  },
  {
    name: 'bucket-create-refused',
    path: '/create/bucket',
    who: 'owner',
    prepare: (page) => page.locator('form button[type=submit]').first().click(),
  },
  { name: 'bucket-edit', path: `/buckets/${sample}/edit`, who: 'owner' },
  { name: 'bucket-edit-long', path: `/buckets/${long}/edit`, who: 'owner' },
  {
    name: 'bucket-review',
    path: `/buckets/${sample}/edit`,
    who: 'owner',
    prepare: async (page) => {
      await page.locator('fieldset').nth(1).getByRole('textbox').first().fill('25');
      await page.locator('form button[type=submit]').click();
      await dialog(page);
    },
  },
  {
    name: 'bucket-review-anew',
    path: `/buckets/${sample}/edit`,
    who: 'owner',
    prepare: async (page) => {
      await page.locator('input[value=concurrency]').click();
      await page.locator('input[value=key]').click();
      await page.locator('form button[type=submit]').click();
      await dialog(page);
    },
  },
];

const bucket: Visit[] = [
  { name: 'bucket-overview', path: `/buckets/${sample}`, who: 'owner', prepare: figuresThere },
  { name: 'bucket-overview-slots', path: `/buckets/${slots}`, who: 'owner', prepare: figuresThere },
  { name: 'bucket-overview-long', path: `/buckets/${long}`, who: 'owner', prepare: figuresThere },
  { name: 'bucket-overview-90d', path: `/buckets/${sample}?range=90d`, who: 'owner' },
  { name: 'bucket-definition', path: `/buckets/${sample}/definition`, who: 'owner' },
  { name: 'bucket-definition-slots', path: `/buckets/${slots}/definition`, who: 'owner' },
  { name: 'bucket-definition-long', path: `/buckets/${long}/definition`, who: 'owner' },
  { name: 'bucket-as-auditor', path: `/buckets/${sample}/definition`, who: 'auditor' },
  { name: 'bucket-history', path: `/buckets/${sample}/history`, who: 'owner' },
  { name: 'bucket-history-long', path: `/buckets/${long}/history`, who: 'owner' },
  {
    name: 'bucket-roll-back',
    path: `/buckets/${sample}/history`,
    who: 'owner',
    prepare: async (page) => {
      await page.locator('article button').first().click();
      await page.getByRole('dialog').getByTestId('field-diff').waitFor();
    },
  },
  { name: 'bucket-use', path: `/buckets/${sample}/use`, who: 'owner' },
  { name: 'bucket-try', path: `/buckets/${sample}/use?open=try`, who: 'owner', prepare: dialog },
  { name: 'bucket-settings', path: `/buckets/${sample}/settings`, who: 'owner' },
  { name: 'bucket-settings-as-auditor', path: `/buckets/${sample}/settings`, who: 'auditor' },
  { name: 'bucket-switch', path: `/buckets/${sample}/settings?open=switch`, who: 'owner', prepare: dialog },
  { name: 'bucket-delete', path: `/buckets/${sample}/settings?open=delete`, who: 'owner', prepare: dialog },
  { name: 'alert-rule', path: `/buckets/${sample}/settings`, who: 'owner', prepare: saying(/^(Add rule|添加规则)$/) },
  { name: 'alert-rule-remove', path: `/buckets/${sample}/settings`, who: 'owner', prepare: saying(/^(Remove rule|移除规则|删除规则)/) },
];

const peopleAndApps: Visit[] = [
  { name: 'apps', path: '/apps', who: 'owner' },
  { name: 'apps-admin', path: '/apps', who: 'admin' },
  { name: 'app', path: '/apps/checkout', who: 'owner', prepare: (page) => page.locator('canvas').first().waitFor() },
  { name: 'app-create', path: '/apps?open=new', who: 'admin', prepare: dialog },
  { name: 'app-edit', path: '/apps/checkout?open=edit', who: 'admin', prepare: dialog },
  { name: 'app-delete', path: '/apps/checkout?open=delete', who: 'admin', prepare: dialog },
  { name: 'people', path: '/people', who: 'admin' },
  { name: 'people-as-auditor', path: '/people', who: 'auditor' },
  { name: 'person-create', path: '/people?open=new', who: 'admin', prepare: dialog },
  { name: 'person-edit', path: '/people?open=edit:sam', who: 'admin', prepare: dialog },
  { name: 'person-password', path: '/people?open=password:sam', who: 'admin', prepare: dialog },
  { name: 'people-why', path: '/people?open=why', who: 'auditor', prepare: dialog },
  {
    name: 'people-why-answered',
    path: '/people?open=why',
    who: 'auditor',
    prepare: async (page) => {
      const fields = page.getByRole('dialog').locator('input[aria-haspopup=listbox]');
      for (const [index, text] of ['sam', 'system.manage'].entries()) {
        await fields.nth(index).fill(text);
        await page.getByRole('option', { name: text }).first().click();
        await expect(page.getByRole('option')).toHaveCount(0);
      }
      await page.getByRole('dialog').locator('dl, ul, [role=status]').first().waitFor();
    },
  },
];

const tokensAndWebhooks: Visit[] = [
  { name: 'tokens', path: '/tokens', who: 'owner' },
  { name: 'tokens-everyones', path: '/tokens?all=true', who: 'admin' },
  { name: 'tokens-none', path: '/tokens', who: 'auditor' },
  { name: 'token-create', path: '/tokens?open=new', who: 'admin', prepare: dialog },
  {
    name: 'token-secret',
    path: '/tokens?open=new',
    who: 'owner',
    prepare: async (page) => {
      await page.getByRole('dialog').locator('input[type=text], input:not([type])').first().fill(`seen-${Date.now()}`);
      await page.getByRole('dialog').locator('button[type=submit]').click();
      await page.getByRole('dialog').getByText(/^hgp_/).first().waitFor();
    },
  },
  { name: 'token-revoke', path: '/tokens', who: 'owner', prepare: saying(/^(Revoke|吊销|撤销)/) },
  { name: 'service-account-create', path: '/tokens?open=account', who: 'admin', prepare: dialog },
  { name: 'webhooks', path: '/webhooks', who: 'admin' },
  {
    name: 'webhook-create',
    path: '/webhooks',
    who: 'admin',
    prepare: async (page) => {
      await page.locator('main button').first().click();
      await dialog(page);
    },
  },
  { name: 'webhook', path: `/webhooks/${webhook}`, who: 'admin' },
  { name: 'webhook-edit', path: `/webhooks/${webhook}`, who: 'admin', prepare: pressed('pencil') },
  { name: 'webhook-redeliver', path: `/webhooks/${webhook}`, who: 'admin', prepare: pressed('repeat') },
  { name: 'webhook-secret', path: `/webhooks/${webhook}`, who: 'admin', prepare: pressed('key') },
  { name: 'webhook-delete', path: `/webhooks/${webhook}`, who: 'admin', prepare: pressed('trash') },
];

const operating: Visit[] = [
  { name: 'system', path: '/system', who: 'auditor' },
  { name: 'system-admin', path: '/system', who: 'admin' },
  { name: 'reconcile', path: '/system', who: 'admin', prepare: pressed('refresh') },
  { name: 'break-glass', path: '/system', who: 'admin', prepare: pressed('shield-off') },
  {
    name: 'audit',
    path: '/audit',
    who: 'auditor',
    prepare: (page) => page.locator('main li button[aria-expanded=false]').first().click(),
  },
  {
    name: 'audit-verified',
    path: '/audit?open=verify',
    who: 'auditor',
    prepare: (page) => page.getByRole('dialog').getByText(/as it was written|与写入时一致/).waitFor(),
  },
  { name: 'audit-no-match', path: '/audit?target=nothing-like-this', who: 'auditor' },
  { name: 'as-of-choose', path: '/as-of', who: 'auditor' },
  { name: 'as-of', path: '/as-of', who: 'auditor', prepare: now },
  {
    name: 'as-of-bucket',
    path: '/as-of',
    who: 'auditor',
    prepare: async (page) => {
      await now(page);
      await page.getByRole('table').getByRole('link').first().click();
      await page.locator('section').nth(2).waitFor();
    },
  },
];

/** Every page, and every dialog. */
export const visits: Visit[] = [...around, ...lists, ...editing, ...bucket, ...peopleAndApps, ...tokensAndWebhooks, ...operating];
