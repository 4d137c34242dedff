// Rules of names and texts that several forms share; the server has the same ones and decides.

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const userNamePattern = /^[a-z0-9][a-z0-9._@-]{0,63}$/;

/** Whether a text may name a bucket or an app. */
export function isName(text: string): boolean {
  return namePattern.test(text);
}

/** Whether a text may name a user. */
export function isUserName(text: string): boolean {
  return userNamePattern.test(text);
}

/** The length of a text in characters, as the server counts them. */
export function characters(text: string): number {
  return [...text].length;
}

export const passwordBounds = { min: 12, max: 128 } as const;
export const descriptionBound = 1000;
