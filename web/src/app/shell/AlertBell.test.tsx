// @vitest-environment jsdom
import { MantineProvider } from '@mantine/core';
import { cleanup, render, screen } from '@testing-library/react';
import { createInstance } from 'i18next';
import { I18nextProvider } from 'react-i18next';
import { MemoryRouter } from 'react-router';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import en from '@/lib/i18n/en';
import { Bell } from './AlertBell';

async function show(count: number, more: boolean) {
  const i18n = createInstance();
  await i18n.init({ lng: 'en', resources: { en: { translation: en } }, interpolation: { escapeValue: false } });
  render(
    <I18nextProvider i18n={i18n}>
      <MantineProvider>
        <MemoryRouter>
          <Bell count={count} more={more} />
        </MemoryRouter>
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

test('the bell says to screen readers the same number that it shows', async () => {
  await show(200, true);
  expect(screen.getByText('200+')).toBeDefined();
  expect(screen.getByRole('link', { name: 'Alerts: 200+ open in your buckets' })).toBeDefined();
  cleanup();
  await show(1, false);
  expect(screen.getByRole('link', { name: 'Alerts: 1 open in your buckets' })).toBeDefined();
});
