import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { TFunction } from 'i18next';
import { failureText } from './failure';

const t = ((key: string, values?: object) => (values ? `${key} ${JSON.stringify(values)}` : key)) as TFunction;

describe('failureText', () => {
  it('knows the answers that are no success', () => {
    expect(failureText('answered 503', t)).toBe('webhookFailure.status {"status":"503"}');
    expect(failureText('answered 301; redirects are not followed', t)).toBe('webhookFailure.redirect {"status":"301"}');
    expect(failureText('no answer within 10s', t)).toBe('webhookFailure.late {"seconds":"10"}');
  });

  it('knows every reason that the server gives', () => {
    const source = readFileSync('../internal/webhook/send.go', 'utf8');
    const reasons = [...source.matchAll(/return (?:0, )?"([^"]+)"$/gm)].map((match) => match[1] ?? '');
    expect(reasons.length).toBeGreaterThan(5);
    expect(reasons.filter((reason) => !failureText(reason, t).startsWith('webhookFailure.'))).toEqual([]);
  });
});
