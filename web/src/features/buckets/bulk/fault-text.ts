import type { TFunction } from 'i18next';
import type { BucketFault } from '@/lib/api/problem';
import { faultInWords, inWords } from '@/lib/form-errors';

/** Why a bucket stands in the way, in the reader's language. */
export function faultText({ code, message, revision, errors }: BucketFault, t: TFunction): string {
  const rules = inWords(errors ?? []).map(faultInWords);
  return t(`bulk.fault.${code}`, { revision, message: rules.join('; ') || message, defaultValue: message });
}
