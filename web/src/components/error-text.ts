import i18next, { type TFunction } from 'i18next';
import { saidRule } from '@/lib/said-rule';
import { ApiError, ConnectionError } from '@/lib/api/problem';

/** What an error means to the reader, in their language where the code is known. */
export function errorText(error: unknown, t: TFunction): string {
  if (error instanceof ConnectionError) return t('problem.connection');
  if (!(error instanceof ApiError)) return t('problem.internal');
  const { detail: english = '', rule, params } = error.problem;
  // What has no code is in English: better nothing of it than a sentence in another language.
  const detail = saidRule(rule, params, t) ?? (i18next.language === 'en' ? english : '');
  return t(`problem.${error.code}`, { detail, defaultValue: detail || t('problem.internal') });
}
