import type { TFunction } from 'i18next';

/** A sentence of the server in the reader's language; undefined where this console does not know its code. */
export function saidRule(code: string | undefined, params: Record<string, string> | undefined, t: TFunction): string | undefined {
  return (code && t(`brokenRule.${code}`, { ...params, defaultValue: '' })) || undefined;
}
