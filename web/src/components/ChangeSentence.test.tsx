// @vitest-environment jsdom
import { cleanup } from '@testing-library/react';
import { expect, test } from 'vitest';
import { actions } from '@/lib/actions';
import type { Change } from '@/lib/api/types';
import { draw, speaking, withBrowser } from '@/lib/testing';
import { actionLabel } from './action-text';
import { ChangeSentence } from './ChangeSentence';

withBrowser();

async function sentence(language: 'en' | 'zh-CN', action: string, target_kind: string, target: string, actor = 'admin') {
  const { container } = await draw(
    <p>
      <ChangeSentence change={{ action, actor, target, target_kind } as Change} />
    </p>,
    language,
  );
  const said = container.querySelector('p')?.textContent;
  const link = container.querySelector('a')?.getAttribute('href') ?? null;
  cleanup();
  return [said, link];
}

test('a change is told as a sentence that names its object once', async () => {
  expect(await sentence('en', 'bucket.update', 'bucket', 'partner-api')).toEqual(['admin · edited bucket partner-api', '/buckets/partner-api']);
  expect(await sentence('en', 'bucket.delete', 'bucket', 'partner-api')).toEqual(['admin · deleted bucket partner-api', null]);
  expect(await sentence('en', 'webhook.update', 'webhook', 'chat')).toEqual(['admin · edited webhook chat', null]);
  expect(await sentence('en', 'token.create', 'user', 'robot')).toEqual(['admin · created an API token for user robot', null]);
  expect(await sentence('en', 'member.set', 'app', 'checkout')).toEqual(['admin · set a member of app checkout', '/apps/checkout']);
  expect(await sentence('zh-CN', 'webhook.update', 'webhook', 'chat')).toEqual(['admin · 编辑了 Webhook chat', null]);
});

test('what somebody does to himself, or to the whole, ends without an object', async () => {
  expect(await sentence('en', 'token.create', 'user', 'admin')).toEqual(['admin · created an API token', null]);
  expect(await sentence('en', 'break_glass.start', 'system', 'all')).toEqual(['admin · broke the glass', null]);
  expect(await sentence('en', 'break_glass.start', 'system', 'app:checkout')).toEqual(['admin · broke the glass for app checkout', '/apps/checkout']);
  expect(await sentence('en', 'export', 'system', 'changes')).toEqual(['admin · exported the audit log', null]);
});

test.each(['en', 'zh-CN'] as const)('no two actions are offered under the same words in %s', async (language) => {
  const { t } = await speaking(language);
  const labels = actions.map((action) => actionLabel(action, t));
  expect(new Set(labels).size).toBe(actions.length);
});
