import type { Page } from '@playwright/test';

/**
 * The texts of a page, its labels and placeholders included, in which three English words stand in a row. What people
 * wrote stands in <bdi>, names and commands in <code>, <pre> and <kbd>: that is nobody's to translate.
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
    return [...found, document.title];
  });
  const word = '[A-Za-z][a-z’\']+';
  const sentence = new RegExp(`(^|[^\\w.-])${word}[,:;]? ${word}[,:;]? ${word}`);
  return [...new Set(texts.map((text) => text.trim()).filter((text) => sentence.test(text)))];
}
