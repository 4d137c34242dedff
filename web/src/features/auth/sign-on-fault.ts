import type { TFunction } from 'i18next';

const faults = ['stale', 'denied', 'unavailable', 'failed', 'disabled', 'uninvited', 'taken', 'name'] as const;

/** Why a single sign-on led back to the login page, in the reader's language; undefined when it did not. */
export function signOnFault(fault: string | null, t: TFunction): string | undefined {
  if (!fault) return undefined;
  const known = faults.find((name) => name === fault);
  return t(`signOn.${known ?? 'failed'}`);
}
