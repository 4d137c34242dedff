import type { TFunction } from 'i18next';

/** A sentence of the server in the reader's language; undefined where this console does not know its code. */
export function saidRule(code: string | undefined, params: Record<string, string> | undefined, t: TFunction): string | undefined {
  const counted = params?.count ?? params?.n; // for the plural
  const count = counted === undefined ? {} : { count: Number(counted) };
  return (code && t(`brokenRule.${code}`, { ...params, ...count, defaultValue: '' })) || undefined;
}
