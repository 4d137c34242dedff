import type { Page } from '@playwright/test';
import en from '../src/lib/i18n/en';
import zh from '../src/lib/i18n/zh';

type Tree = { [key: string]: string | Tree };

function flatten(tree: Tree, prefix = ''): [string, string][] {
  return Object.entries(tree).flatMap(([key, value]): [string, string][] => (typeof value === 'string' ? [[prefix + key, value]] : flatten(value, `${prefix}${key}.`)));
}

const chinese = new Map(flatten(zh));
// What the console says in English, where Chinese says it otherwise; a variable may be anything. One word in small letters may
// as well be a name, such as that of the user system.
const english = flatten(en).filter(([key, text]) => /^[A-Z]|\s/.test(text) && text !== chinese.get(key) && /[A-Za-z]{3}/.test(text.replace(/\{\{.*?\}\}/g, ''))).map(([, text]) => text);
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const said = new RegExp(`^(${english.map((text) => text.split(/\{\{.*?\}\}/).map(escaped).join('.+')).join('|')})$`);

const word = '[A-Za-z][a-z’\']+';
const sentence = new RegExp(`(^|[^\\w.-])${word}[,:;]? ${word}[,:;]? ${word}`);

/**
 * The texts of a page in Chinese, its labels and placeholders included, that the console has in its English catalogue, or in
 * which three English words stand in a row. What people wrote stands in <bdi>, names and commands in <code>, <pre> and
 * <kbd>: that is nobody's to translate.
 */
export async function foreignWords(page: Page): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const data = 'bdi, code, pre, kbd, samp, script, style, noscript, textarea, [data-written]';
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.parentElement?.closest(data)) found.push(node.textContent ?? '');
    }
    for (const element of document.querySelectorAll('[aria-label], [placeholder], [title], [alt], [aria-description]')) {
      if (element.closest(data)) continue;
      for (const name of ['aria-label', 'placeholder', 'title', 'alt', 'aria-description']) found.push(element.getAttribute(name) ?? '');
    }
    // What was chosen from a list stands in an input.
    for (const chosen of document.querySelectorAll<HTMLInputElement>('input[aria-haspopup=listbox]')) found.push(chosen.value);
    return [...found, document.title];
  });
  return [...new Set(texts.map((text) => text.trim()).filter((text) => sentence.test(text) || said.test(text)))];
}
