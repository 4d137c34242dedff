import { describe, expect, it } from 'vitest';
import { reasonText } from './reason-text';
import type { TFunction } from 'i18next';

const t = ((key: string, values?: object) => (values ? `${key} ${JSON.stringify(values)}` : key)) as TFunction;

describe('reasonText', () => {
  it('puts the reasons that the server gives into the reader’s language', () => {
    expect(reasonText({ action: 'login.refused', actor: 'sam', reason: 'wrong password' }, t)).toBe('serverReason.wrong_password');
    expect(reasonText({ action: 'user.create', actor: 'system', reason: 'first start' }, t)).toBe('serverReason.first_start');
    expect(reasonText({ action: 'refused', actor: 'sam', reason: 'DELETE /api/v1/buckets/{name} needs bucket.edit' }, t)).toBe(
      'serverReason.needs {"request":"DELETE /api/v1/buckets/{name}","permission":"bucket.edit"}',
    );
  });

  it('leaves what a person wrote as it is', () => {
    expect(reasonText({ action: 'bucket.update', actor: 'sam', reason: 'sample data' }, t)).toBe('sample data');
    expect(reasonText({ action: 'refused', actor: 'sam', reason: 'something else' }, t)).toBe('something else');
  });
});
