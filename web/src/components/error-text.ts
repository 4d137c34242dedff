import type { TFunction } from 'i18next';
import { ApiError, ConnectionError } from '@/lib/api/problem';

/** What an error means to the reader, in their language where the code is known. */
export function errorText(error: unknown, t: TFunction): string {
  if (error instanceof ConnectionError) return t('problem.connection');
  if (!(error instanceof ApiError)) return t('problem.internal');
  const detail = error.problem.detail ?? '';
  return t(`problem.${error.code}`, { detail, defaultValue: detail || t('problem.internal') });
}
