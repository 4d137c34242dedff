// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { System } from '@/lib/api/types';
import zh from '@/lib/i18n/zh';
import { draw, withBrowser } from '@/lib/testing';
import { PartCard } from './PartCard';

withBrowser();

async function card(part: Partial<System['redis']>) {
  const whole = { kind: 'redis', version: '7.0.15', ok: true, message: '', took_us: 900, warnings: [], ...part };
  const { container } = await draw(<PartCard which="redis" part={whole} known />, 'zh-CN');
  return container.textContent;
}

test('a part that does not answer says so in the language of the reader', async () => {
  const text = await card({ ok: false, took_us: null, message: 'Redis does not answer; saved changes wait and reach it when it is back.' });
  expect(text).toContain(zh.system.away.redis);
  expect(text).not.toContain('does not answer');
});

test('the server’s warning comes in the language of the reader, with the policy that it names', async () => {
  const text = await card({ warnings: ['Redis has maxmemory-policy allkeys-lru and may drop the state of buckets; set noeviction.'] });
  expect(text).toContain('allkeys-lru');
  expect(text).not.toContain('may drop');
});

test('a part carries its maker’s name', async () => {
  expect(await card({ kind: 'mariadb' })).toContain('MariaDB 7.0.15');
});
