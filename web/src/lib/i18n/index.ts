import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';

/** The languages of the console, each named in itself. */
export const languages = [
  { code: 'en', name: 'English' },
  { code: 'zh-CN', name: '简体中文' },
] as const;

export type Language = (typeof languages)[number]['code'];

const storageKey = 'headgate.language';

const texts = {
  en: () => import('./en'),
  'zh-CN': () => import('./zh'),
} satisfies Record<Language, () => Promise<{ default: object }>>;

function preferred(): Language {
  const stored = localStorage.getItem(storageKey);
  if (stored === 'en' || stored === 'zh-CN') return stored;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

async function load(language: Language): Promise<void> {
  if (i18next.hasResourceBundle(language, 'translation')) return;
  const { default: bundle } = await texts[language]();
  i18next.addResourceBundle(language, 'translation', bundle);
}

/** Must end before the first render, so that nobody sees keys in place of words. */
export async function startLanguage(): Promise<void> {
  await i18next.use(initReactI18next).init({
    resources: {},
    fallbackLng: false,
    interpolation: { escapeValue: false }, // React escapes
    returnEmptyString: false,
  });
  await changeTo(preferred());
}

/** Switches the language and remembers it in this browser. */
export async function setLanguage(language: Language): Promise<void> {
  localStorage.setItem(storageKey, language);
  await changeTo(language);
}

async function changeTo(language: Language): Promise<void> {
  await load(language);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}
