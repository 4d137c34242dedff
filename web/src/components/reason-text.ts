import type { TFunction } from 'i18next';
import type { Change } from '@/lib/api/types';

/** What the server itself gives as reasons, word for word, and the key of each. People's own reasons stay as written. */
const known: Record<string, string> = {
  'wrong password': 'wrong_password',
  'no such user': 'no_such_user',
  'the user is disabled': 'disabled',
  'the user has no password here': 'no_password',
  'held off after too many failures': 'held_off',
  'wrong password, to change it': 'wrong_password_change',
  'hashed at the present cost': 'rehashed',
  'by age': 'by_age',
  'an old refresh token came back; its session was ended': 'reused',
  'the API token has expired': 'token_expired',
  'the API token was revoked': 'token_revoked',
  "the API token's user or maker may not use it now": 'token_suspended',
  'sample data': 'sample_data',
  'first start': 'first_start',
  'command line': 'command_line',
  'single sign-on': 'sign_on',
  'single sign-on groups': 'sign_on_groups',
  'local login is switched off': 'local_off',
  'Redis had lost the definition; it was installed again': 'redis_lost',
  'Redis had an older definition; the present one was installed': 'redis_older',
  'Redis still had the deleted bucket; it was removed': 'redis_deleted',
  'Redis differed from the database in many buckets; they were put right': 'redis_many',
  'Redis had this revision or a later one with other content': 'redis_ahead',
};

const refusal = /^(\S+ \S+) needs (\S+)$/;
const byServer = new Set(['login', 'login.refused', 'session.reuse', 'token.refused']);

/** The reason of a change in the reader's language. */
export function reasonText({ action, actor, reason }: Pick<Change, 'action' | 'actor' | 'reason'>, t: TFunction): string {
  const [, request, permission] = (action === 'refused' && refusal.exec(reason)) || [];
  if (request && permission) return t('serverReason.needs', { request, permission });
  const key = byServer.has(action) || actor === 'system' ? known[reason] : undefined;
  return key ? t(`serverReason.${key}`) : reason;
}
