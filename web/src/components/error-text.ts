import i18next, { type TFunction } from 'i18next';
import { saidRule } from '@/lib/said-rule';
import { ApiError, ConnectionError } from '@/lib/api/problem';

/** What an error means to the reader, in their language where the code is known. An id that stands beside it anyway is left out. */
export function errorText(error: unknown, t: TFunction, idBeside = false): string {
  if (error instanceof ConnectionError) return t('problem.connection');
  if (!(error instanceof ApiError)) return t('problem.internal');
  const { detail: english = '', rule, params, request_id: id } = error.problem;
  // What has no code is in English: better nothing of it than a sentence in another language.
  const detail = sentence(saidRule(rule, params, t) ?? (i18next.language === 'en' ? english : ''), params);
  const context = id && !idBeside ? 'id' : '';
  return t(`problem.${error.code}`, { detail, id, context, defaultValue: detail || t('problem.internal', { id, context }) }).trim();
}

/** A rule as a sentence after another one. A name at its beginning stays as it is written. */
function sentence(rule: string, params: Record<string, string> = {}): string {
  if (rule === '') return '';
  const named = Object.values(params).some((value) => value !== '' && rule.startsWith(value));
  const begun = named ? rule : rule.charAt(0).toUpperCase() + rule.slice(1);
  if (/[.!?。！？]$/.test(begun)) return begun;
  return begun + (i18next.language === 'en' ? '.' : '。');
}
