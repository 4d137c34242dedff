import i18next, { type InitOptions } from 'i18next';
import { initReactI18next } from 'react-i18next';
import { parts, type Part } from './parts';

/** The languages of the console, each named in itself. */
export const languages = [
  { code: 'en', name: 'English' },
  { code: 'zh-CN', name: '简体中文' },
] as const;

export type Language = (typeof languages)[number]['code'];

const storageKey = 'headgate.language';

function preferred(): Language {
  const stored = localStorage.getItem(storageKey);
  if (stored === 'en' || stored === 'zh-CN') return stored;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

/** How texts are looked up. */
export const lookup: InitOptions = {
  fallbackLng: false,
  interpolation: { escapeValue: false }, // React escapes
  parseMissingKeyHandler: (key: string, fallback?: string) => {
    if (fallback === undefined) reportError(new Error(`there is no text ${key}, or its part is not loaded`)); // the browser tests see it
    return fallback ?? key;
  },
};

// At once: the router asks for the texts of the first page while it is being made.
void i18next.use(initReactI18next).init({ ...lookup, resources: {} });

let current: Language | undefined;
let coming: Language | undefined; // while its texts are being loaded
const wanted = new Set<Part>(['base']);
const loads = new Map<string, Promise<void>>();

/** Loads a part of the texts once; one that failed is tried again when it is asked for again. */
function load(language: Language, part: Part): Promise<void> {
  const id = `${language}/${part}`;
  const known = loads.get(id);
  if (known) return known;
  const loading = parts[language][part]().then((texts) => {
    for (const some of Object.values(texts)) i18next.addResourceBundle(language, 'translation', some, true);
  });
  loads.set(id, loading);
  loading.catch(() => loads.delete(id));
  return loading;
}

/** Must end before what shows these texts is rendered; they are then there in every language that is chosen later, too. */
export async function needTexts(...named: Part[]): Promise<void> {
  for (const part of named) wanted.add(part);
  const shown = current ?? preferred();
  const spoken = [...new Set([shown, coming ?? shown])];
  await Promise.all(spoken.flatMap((language) => named.map((part) => load(language, part))));
}

/** Must end before the first render, so that nobody sees keys in place of words. */
export async function startLanguage(): Promise<void> {
  await changeTo(preferred());
  addEventListener('storage', followOtherTabs);
}

/** What is chosen in one tab is chosen in all; where its texts cannot be had, this tab keeps its language. */
function followOtherTabs(event: StorageEvent): void {
  if (event.key === storageKey) changeTo(preferred()).catch(() => undefined);
}

/** Switches the language and remembers it in this browser. */
export async function setLanguage(language: Language): Promise<void> {
  localStorage.setItem(storageKey, language);
  await changeTo(language);
}

async function changeTo(language: Language): Promise<void> {
  coming = language;
  try {
    await Promise.all([...wanted].map((part) => load(language, part)));
    if (coming !== language) return; // another was chosen meanwhile
    await i18next.changeLanguage(language);
    current = language;
    document.documentElement.lang = language;
  } finally {
    if (coming === language) coming = undefined;
  }
}
