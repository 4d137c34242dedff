import i18next from 'i18next';
import { beforeAll, expect, test } from 'vitest';
import zh from '@/lib/i18n/zh';
import { faultText } from './fault-text';

beforeAll(async () => {
  await i18next.init({ lng: 'zh-CN', interpolation: { escapeValue: false }, resources: { 'zh-CN': { translation: zh } } });
});

test('the rule that a bucket would break comes in the language of the reader', () => {
  const errors = [{ field: 'labels', message: 'must be at most 20, not 21', code: 'most_of', params: { most: '20', n: '21' } }];
  const text = faultText({ name: 'a', code: 'invalid', message: 'labels must be at most 20, not 21', errors }, i18next.t);
  expect(text).toContain('标签: 最多 20 个，现为 21 个');
  expect(text).not.toContain('must');
});

test('a server that does not tell the rules apart is quoted', () => {
  expect(faultText({ name: 'a', code: 'invalid', message: 'labels must glow' }, i18next.t)).toContain('labels must glow');
});
