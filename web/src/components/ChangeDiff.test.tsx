// @vitest-environment jsdom
import { cleanup } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Change } from '@/lib/api/types';
import { draw, withBrowser } from '@/lib/testing';
import { ChangeDiff } from './ChangeDiff';

withBrowser();

async function fieldsOf(language: 'en' | 'zh-CN', after: Record<string, unknown>, target = '') {
  const change = { before: null, after, target } as unknown as Change;
  const { container } = await draw(<ChangeDiff change={change} />, language);
  const rows = [...container.querySelectorAll('dt')].map((name) => {
    const value = name.nextElementSibling?.querySelector('ins')?.textContent ?? '';
    return [name.textContent, value.replace(/^\+(after:|之后：|变更后：)? ?/, '')] as const;
  });
  cleanup();
  return new Map(rows);
}

// What the server keeps of each kind of thing, field by field.
const kept: Record<string, Record<string, unknown>> = {
  token: { id: 8, kind: 'personal', name: 'nightly', scopes: ['read'], made_by: 'olivia', expires_at: '2027-02-19T18:30:31Z' },
  user: { name: 'sam', display_name: 'Sam', role: 'member', disabled: false, service: true },
  member: { user: 'sam', role: 'viewer' },
  webhook: { url: 'https://example.com', description: 'chat', actions: [], target_kind: 'bucket', target: 'x', checkpoints: true, enabled: true },
  rules: { rules: [{ id: 1, kind: 'limited_share', percent: 5, minutes: 3, enabled: false }] },
  alert: { alert: 3, kind: 'near_limit', percent: 5, minutes: 3, since: '2027-02-19T18:30:31Z', value: 7.25, peak: 9, cause: 'recovered' },
  glass: { id: 1, scope: 'app', app: 'checkout' },
  sessions: { session: 'abc', ended: 2 },
  trial: { app: 'checkout', key: 'k', permits: 1 },
  exported: { of: 'changes', format: 'csv', filters: { actor: 'sam' } },
  redelivered: { from: 5 },
  pruned: { from: 1, to: 9, hash: 'ff', checkpoint: 'c', older_than_hours: 24 },
  identity: { issuer: 'https://id.example.com', subject: 's' },
  keys: { signs_from: '2027-02-19T18:30:31Z', now: true, dropped: 1 },
  secrets: { password: 'changed', secret: 'changed', deployment_id: 'd' },
};

test.each(Object.keys(kept))('a Chinese reader sees no raw field name in what changed of: %s', async (name) => {
  const fields = await fieldsOf('zh-CN', kept[name] ?? {});
  expect(fields.size).toBe(Object.keys(kept[name] ?? {}).length);
  for (const field of fields.keys()) expect(field).toMatch(/\p{Script=Han}|^URL$/u);
});

test('values are said in words: times, lists, states, rules', async () => {
  const token = await fieldsOf('en', kept.token ?? {});
  expect(token.get('Expires')).toMatch(/^Feb \d+, 2027, /);
  expect(token.get('Scopes')).toBe('read');
  expect(token.get('Kind')).toBe('Personal');
  expect(token.get('Name')).toBe('nightly');
  expect((await fieldsOf('en', kept.webhook ?? {})).get('Actions')).toBe('Everything');
  expect((await fieldsOf('en', kept.rules ?? {})).get('Alert rules')).toBe('At least 5% of the requested permits are limited, for 3 min (Off)');
  expect((await fieldsOf('en', kept.exported ?? {})).get('Filters')).toBe('actor = sam');
  expect((await fieldsOf('en', kept.alert ?? {})).get('Share')).toBe('7.3%');
});

test('the name of what was changed is not repeated, one that was changed is told', async () => {
  expect([...(await fieldsOf('en', { name: 'sam', role: 'member' }, 'sam')).keys()]).toEqual(['Role']);
  expect([...(await fieldsOf('en', { name: 'sam', role: 'member' }, 'samuel')).keys()]).toEqual(['Name', 'Role']);
});
