import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { violations } from './accessible';
import { logins } from './env';
import { login } from './login';

// An admin gives Headgate an endpoint, sees how telling it goes, and mends that, on a receiver that checks each signature.

interface Delivery {
  event: string;
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An endpoint: it keeps what it was sent, and answers what it is told to. */
class Receiver {
  readonly got: Delivery[] = [];
  status = 204;
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        const { id, event } = JSON.parse(body) as { id: string; event: string };
        this.got.push({ id, event, headers: request.headers, body });
        response.writeHead(this.status).end();
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/headgate`;
  }

  /** Waits for a delivery behind the first `after` ones. */
  async next(event: string, after: number): Promise<Delivery> {
    const found = () => this.got.slice(after).find((one) => one.event === event);
    await expect.poll(() => found()?.event, { timeout: 30_000 }).toBe(event);
    return found()!;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

function genuine(secret: string, { headers, body }: Delivery): boolean {
  const [, time, sum] = /^t=(\d+),v1=(\w+)$/.exec(String(headers['headgate-signature'])) ?? [];
  return createHmac('sha256', secret).update(`${time}.${body}`).digest('hex') === sum;
}

async function accessible(page: Page): Promise<void> {
  expect(await violations(page)).toEqual([]);
}

const secretIn = async (dialog: Locator) => (await dialog.getByRole('region', { name: 'Secret' }).innerText()).trim();

test('an endpoint is added, tested, fails and recovers, is told again, gets another secret, rests, and goes', async ({ page }) => {
  const receiver = new Receiver();
  const url = await receiver.listen();
  const name = `e2e-hook-${Date.now()}`;
  const bucket = `e2e-hooked-${Date.now()}`;
  const dialog = page.getByRole('dialog');
  const press = (button: string) => dialog.getByRole('button', { name: button, exact: true }).click();
  try {
    await login(page.request, 'admin');
    await page.goto('/webhooks');

    // A refusal stands at its input; the secret is shown once, and not again by the way back.
    await page.getByRole('button', { name: 'Add webhook' }).click();
    await expect(page).toHaveURL(/open=new/);
    await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
    await dialog.getByRole('textbox', { name: /^URL/ }).fill('not an address');
    await press('Add webhook');
    await expect(dialog.getByRole('textbox', { name: /^URL/ })).toBeFocused();
    await dialog.getByRole('textbox', { name: /^URL/ }).fill(url);
    await dialog.getByRole('combobox', { name: 'Events' }).fill('bucket');
    await page.getByRole('option', { name: 'bucket (all of them)' }).click();
    await dialog.getByRole('textbox', { name: /^Reason/ }).fill('the chat of the payments team');
    await accessible(page);
    await press('Add webhook');
    const secret = await secretIn(dialog);
    expect(secret).toMatch(/^hgw_/);
    await page.goBack();
    await expect(dialog).toHaveCount(0);
    await page.goForward();
    await expect(dialog.getByRole('textbox', { name: 'Name' })).toHaveValue('');
    expect(await page.content()).not.toContain(secret);
    await press('Cancel');

    await page.getByRole('link', { name }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await expect(page.getByText(/answered 204/).first()).toBeVisible();
    expect(genuine(secret, await receiver.next('webhook.test', 0))).toBe(true);

    // A change arrives signed; while the endpoint fails, the page says so.
    const data = { name: bucket, apps: ['checkout'], owners: [logins().owner.name], max_permits: 10, rate: 5, partition: 'shared', reason: 'told' };
    expect((await page.request.post('/api/v1/buckets', { data })).status()).toBe(201);
    const created = await receiver.next('bucket.create', 0);
    expect(genuine(secret, created)).toBe(true);
    expect(genuine(`${secret}x`, created)).toBe(false);
    receiver.status = 500;
    const edit = await page.request.put(`/api/v1/buckets/${bucket}`, { headers: { 'If-Match': '"1"' }, data: { ...data, name: undefined, rate: 6 } });
    expect(edit.status(), await edit.text()).toBe(200);
    await receiver.next('bucket.update', 0);
    await page.reload();
    await expect(page.getByText('Retrying', { exact: true })).toBeVisible({ timeout: 30_000 });
    const attempts = page.getByRole('table', { name: 'Recent deliveries' });
    await expect(attempts.getByText('Failed', { exact: true }).first()).toBeVisible();
    await expect(attempts.getByText(/500/).first()).toBeVisible();
    await accessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    await page.setViewportSize({ width: 1280, height: 800 });

    // It recovers, and is told again from the change that made the bucket on.
    receiver.status = 200;
    const before = receiver.got.length;
    const first = (JSON.parse(created.body) as { change: { id: number } }).change.id;
    await page.getByRole('button', { name: 'Deliver again' }).click();
    await expect(page).toHaveURL(/open=redeliver/);
    await dialog.getByRole('textbox', { name: /^From/ }).fill(String(first));
    await dialog.getByRole('textbox', { name: /^Reason/ }).fill('its disk was full');
    await press('Deliver again');
    await expect(dialog).toHaveCount(0);
    expect((await receiver.next('bucket.create', before)).id).toBe(created.id);
    await receiver.next('bucket.update', before);
    await page.reload();
    await expect(page.getByText('Delivering', { exact: true })).toBeVisible({ timeout: 30_000 });

    // Another secret signs from then on, and is shown this once.
    await page.getByRole('button', { name: 'Renew the secret' }).click();
    await press('Renew the secret');
    const renewed = await secretIn(dialog);
    expect(renewed).not.toBe(secret);
    await press('I have stored it');
    const tests = receiver.got.length;
    await page.getByRole('button', { name: 'Send a test' }).click();
    const signed = await receiver.next('webhook.test', tests);
    expect([genuine(renewed, signed), genuine(secret, signed)]).toEqual([true, false]);
    expect(await page.content()).not.toContain(renewed);

    // Off, nothing is sent; on again, it goes on where it was.
    await page.getByRole('button', { name: 'Turn off' }).click();
    await expect(page.getByText('Off', { exact: true })).toBeVisible();
    const off = receiver.got.length;
    const gone = await page.request.delete(`/api/v1/buckets/${bucket}?reason=done`, { headers: { 'If-Match': '"2"' } });
    expect(gone.status(), await gone.text()).toBe(200);
    await page.getByRole('button', { name: 'Turn on' }).click();
    await receiver.next('bucket.delete', off);
    expect(receiver.got.slice(off).map(({ event }) => event)).toEqual(['bucket.delete']);

    await page.getByRole('button', { name: 'Remove this webhook' }).click();
    await dialog.getByRole('textbox', { name: /^Reason/ }).fill('over');
    await dialog.getByRole('textbox', { name: /^Type/ }).fill(name);
    await press('Remove');
    await expect(page).toHaveURL(/\/webhooks$/);
    await expect(page.getByRole('link', { name })).toHaveCount(0);
  } finally {
    receiver.close();
  }
});
