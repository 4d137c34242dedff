import { expect, test } from 'vitest';
import type { TFunction } from 'i18next';
import { signOnFault } from './sign-on-fault';
import en from '@/lib/i18n/en';

const t = ((key: string) => key) as TFunction;

test('each fault of a single sign-on has a sentence, and nothing else from the address bar is shown', () => {
  for (const fault of ['stale', 'denied', 'unavailable', 'failed', 'disabled', 'uninvited', 'taken', 'name'] as const) {
    expect(signOnFault(fault, t)).toBe(`signOn.${fault}`);
    expect(en.signOn[fault]).not.toBe('');
  }
  expect(signOnFault('<b>call 555-1234</b>', t)).toBe('signOn.failed');
  expect(signOnFault(null, t)).toBeUndefined();
});
