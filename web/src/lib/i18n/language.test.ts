// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest';
import { setLanguage, startLanguage } from '.';

const chinese = vi.hoisted(() => ({ arrive: () => undefined as void }));

// The texts come over the network: those in Chinese when the test lets them.
vi.mock('./parts', () => {
  const texts = { some: { text: 'x' } };
  const english = () => Promise.resolve(texts);
  const late = () => new Promise<typeof texts>((resolve) => (chinese.arrive = () => resolve(texts)));
  return { parts: { en: { base: english }, 'zh-CN': { base: late } } };
});

afterEach(() => localStorage.clear());

const chosenElsewhere = (language: string) => {
  localStorage.setItem('headgate.language', language);
  dispatchEvent(new StorageEvent('storage', { key: 'headgate.language', newValue: language }));
};

test('the language chosen last is spoken, here or in another tab, whichever texts come first', async () => {
  await startLanguage();
  expect(document.documentElement.lang).toBe('en');

  const first = setLanguage('zh-CN');
  await setLanguage('en');
  chinese.arrive();
  await first;
  expect(document.documentElement.lang).toBe('en');

  chosenElsewhere('zh-CN'); // its texts are there now
  await vi.waitFor(() => expect(document.documentElement.lang).toBe('zh-CN'));
  chosenElsewhere('en');
  await vi.waitFor(() => expect(document.documentElement.lang).toBe('en'));
});
