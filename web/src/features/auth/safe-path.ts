const home = '/overview';

/** The path to open after the login: only one of this console, whatever the address bar says. */
export function safePath(next: string | null): string {
  if (next === null || !next.startsWith('/')) return home;
  const url = URL.canParse(next, location.origin) ? new URL(next, location.origin) : null;
  if (url === null || url.origin !== location.origin || url.pathname === '/login') return home;
  return url.pathname + url.search;
}
