import { useSyncExternalStore } from 'react';

type Scheme = 'light' | 'dark';

const mark = 'data-mantine-color-scheme';

function subscribe(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: [mark] });
  return () => observer.disconnect();
}

function shown(): Scheme {
  return document.documentElement.getAttribute(mark) === 'dark' ? 'dark' : 'light';
}

/** How the page looks now. Mantine's own hook evaluates a media query each time that it is asked. */
export function useScheme(): Scheme {
  return useSyncExternalStore(subscribe, shown);
}
