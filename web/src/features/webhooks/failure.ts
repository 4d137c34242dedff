import type { TFunction } from 'i18next';

/** Why a delivery failed, word for word as the server says it, and the key of each. */
const known: Record<string, string> = {
  "the URL can't be called": 'bad_url',
  'the name leads to an address that is not public, which is not allowed': 'private',
  "the host's name could not be resolved": 'dns',
  'the connection was refused': 'refused',
  'the certificate is not good for this host': 'certificate',
  'the connection failed': 'connection',
};

const answered = /^answered (\d{3})(; redirects are not followed)?$/;
const late = /^no answer within (\d+)s$/;

/** Why a delivery failed, in the reader's language. */
export function failureText(failure: string, t: TFunction): string {
  const [, status, redirect] = answered.exec(failure) ?? [];
  if (status) return t(redirect ? 'webhookFailure.redirect' : 'webhookFailure.status', { status });
  const [, seconds] = late.exec(failure) ?? [];
  if (seconds) return t('webhookFailure.late', { seconds });
  const key = known[failure];
  return key ? t(`webhookFailure.${key}`) : failure;
}
