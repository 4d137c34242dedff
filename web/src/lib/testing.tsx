// For unit tests alone: what a part of a page needs around it.
import { MantineProvider } from '@mantine/core';
import { cleanup, render } from '@testing-library/react';
import { createInstance, type i18n } from 'i18next';
import type { ReactNode } from 'react';
import { I18nextProvider } from 'react-i18next';
import { MemoryRouter } from 'react-router';
import { afterEach, beforeEach, vi } from 'vitest';
import type { Language } from './i18n';
import en from './i18n/en';
import zh from './i18n/zh';

/** All texts in a language, and none of another one. */
export async function speaking(language: Language): Promise<i18n> {
  const instance = createInstance();
  const resources = { en: { translation: en }, 'zh-CN': { translation: zh } };
  await instance.init({ lng: language, fallbackLng: false, resources, interpolation: { escapeValue: false } });
  return instance;
}

/** Draws a part of a page with its texts. */
export async function draw(part: ReactNode, language: Language = 'en') {
  return render(
    <I18nextProvider i18n={await speaking(language)}>
      <MantineProvider>
        <MemoryRouter>{part}</MemoryRouter>
      </MantineProvider>
    </I18nextProvider>,
  );
}

/** Stands in for what jsdom does not have, and takes down what a test drew. */
export function withBrowser() {
  beforeEach(() => {
    vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
    vi.stubGlobal('ResizeObserver', class { observe() {} unobserve() {} disconnect() {} });
  });
  afterEach(() => {
    cleanup();
    vi.unstubAllGlobals();
  });
}
