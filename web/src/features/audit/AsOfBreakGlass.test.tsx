// @vitest-environment jsdom
import { MantineProvider } from '@mantine/core';
import { cleanup, render, screen } from '@testing-library/react';
import { createInstance } from 'i18next';
import { I18nextProvider } from 'react-i18next';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AsOfGlass } from '@/lib/api/types';
import en from '@/lib/i18n/en';
import { AsOfBreakGlass } from './AsOfBreakGlass';

async function show(covered: AsOfGlass[] | null) {
  const i18n = createInstance();
  await i18n.init({ lng: 'en', resources: { en: { translation: en } }, interpolation: { escapeValue: false } });
  render(
    <I18nextProvider i18n={i18n}>
      <MantineProvider>
        <AsOfBreakGlass covered={covered} />
      </MantineProvider>
    </I18nextProvider>,
  );
}

beforeEach(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('what break-glass covered is told with who began it and why, as far as that is kept', async () => {
  await show([
    { scope: 'app', app: 'checkout', since: '2026-03-01T12:00:00Z', by: 'root', reason: 'the callee is down' },
    { scope: 'all', app: '', since: null, by: '', reason: '' },
  ]);
  const [one, all] = screen.getAllByRole('listitem');
  expect(one?.textContent).toMatch(/^Calls of checkout · root · the callee is down · ./);
  expect(all?.textContent).toBe('Everything');
});

test('nothing is said where nothing was covered, or the history does not tell', async () => {
  await show([]);
  await show(null);
  expect(screen.queryByRole('alert')).toBeNull();
});
