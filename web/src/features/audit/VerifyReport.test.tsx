// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { draw, withBrowser } from '@/lib/testing';
import type { Report } from './api/chain';
import { VerifyReport } from './VerifyReport';

withBrowser();

const good: Report = { unchained: 0, first: 1, last: 1_234, pruned_to: 0, checkpoints: 3, unchecked: 0, keys: ['key-one'], faults: [], more_faults: 0 };

const lines = () => screen.getAllByRole('listitem').map((item) => item.textContent);

test('a history without a fault is told with what was looked at, and with what nothing protects', async () => {
  await draw(<VerifyReport report={{ ...good, unchained: 7, unchecked: 1, pruned_to: 20 }} />);
  expect(screen.getByRole('status').textContent).toContain('The history is as it was written');
  expect(lines()).toEqual([
    '1,234 entries were verified, 1 to 1,234.',
    '3 signed checkpoints agree.',
    'One checkpoint is of an entry that is not kept.',
    '7 entries are older than the chain; nothing protects them.',
    'Entries up to 20 were removed by retention, and a signed checkpoint stands for them.',
  ]);
  expect(screen.getByText('key-one')).toBeTruthy();
});

test('before the first checkpoint no key is told', async () => {
  await draw(<VerifyReport report={{ ...good, last: 1, checkpoints: 0, keys: [] }} />);
  expect(lines()).toEqual(['One entry was verified, 1.', '0 signed checkpoints agree.']);
  expect(screen.queryByText(/signed by/)).toBeNull();
});

const faults: Report['faults'] = [
  { kind: 'altered', seq: 5 },
  { kind: 'removed', seq: 1_000, to: 1_002 },
  { kind: 'signature', seq: 9 },
];

test.each([
  ['en', 'The history is not as it was written', ['Entry 5 is not as it was written.', 'Entries 1,000 to 1,002 are missing.', 'The checkpoint of entry 9 is not signed by its key.', '2 more checkpoints do not fit.']],
  ['zh-CN', '历史与写入时不一致', ['第 5 条记录与写入时不一致。', '缺少第 1,000 至 1,002 条记录。', '第 9 条记录的检查点并非由其密钥签名。', '另有 2 个检查点不吻合。']],
] as const)('each fault is told in %s, and nothing of it as good', async (language, title, told) => {
  await draw(<VerifyReport report={{ ...good, faults, more_faults: 2 }} />, language);
  expect(screen.getByRole('alert').textContent).toContain(title);
  expect(lines()).toEqual(told);
  expect(screen.queryByRole('status')).toBeNull();
});
