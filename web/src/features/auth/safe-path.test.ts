// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { safePath } from './safe-path';

test('the login leads back to pages of this console only', () => {
  expect(safePath('/buckets/a/history?x=1')).toBe('/buckets/a/history?x=1');
  for (const bad of [null, '', 'https://evil.test/', '//evil.test/', '/\\evil.test', 'javascript:alert(1)', '/login?next=/login']) {
    expect(safePath(bad), String(bad)).toBe('/overview');
  }
});
