import type { TFunction } from 'i18next';
import { characters, passwordBounds } from '@/lib/rules';

/** The rule that a new password breaks, in words; null when it breaks none. */
export function passwordError(password: string, t: TFunction): string | null {
  const length = characters(password);
  return length >= passwordBounds.min && length <= passwordBounds.max ? null : t('rule.password', passwordBounds);
}
