// What the frame around every page says, and the pages without one; lib/i18n/index.ts loads the other files with the pages
// that use them.
export { alerts } from './alerts';
export { common } from './common';
export { glass } from './glass';
export { login } from './login';
export { shell } from './shell';
