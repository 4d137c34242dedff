import { readFileSync } from 'node:fs';
import i18next from 'i18next';
import { beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '@/lib/api/problem';
import { fieldErrorsOf } from '@/lib/form-errors';
import { lookup } from '@/lib/i18n';
import en from '@/lib/i18n/en';
import zh from '@/lib/i18n/zh';
import { errorText } from '@/components/error-text';

interface Document {
  components: { schemas: { FieldError: { properties: { code: { enum: string[] } } } } };
}

const codes = (JSON.parse(readFileSync('../docs/openapi.json', 'utf8')) as Document).components.schemas.FieldError.properties.code.enum;

beforeAll(async () => {
  await i18next.init({
    ...lookup,
    lng: 'zh-CN',
    resources: { en: { translation: en }, 'zh-CN': { translation: zh } },
  });
});

describe('what the server says', () => {
  it('has a text in both languages for every code of the API, and none for others', () => {
    expect(codes.length).toBeGreaterThan(80);
    expect(Object.keys(en.brokenRule).sort()).toEqual([...codes].sort());
    expect(Object.keys(zh.brokenRule).sort()).toEqual([...codes].sort());
  });

  it('is Chinese in the Chinese catalogue', () => {
    for (const [code, text] of Object.entries(zh.brokenRule)) expect(text, code).toMatch(/\p{Script=Han}/u);
  });

  it('comes to a form in the language of the reader, with its bounds', () => {
    const fault = { field: 'rate', message: 'must be 1..5, not 7', code: 'range', params: { low: '1', high: '5', of: '', n: '7' } };
    const error = new ApiError({ status: 422, code: 'invalid', errors: [fault] });
    expect(fieldErrorsOf(error)[0]?.message).toBe('须为 1 到 5，现为 7');
  });

  it('stays as it is where a newer server has a code that this console does not know', () => {
    const error = new ApiError({ status: 422, code: 'invalid', errors: [{ field: 'rate', message: 'must glow', code: 'glow' }] });
    expect(fieldErrorsOf(error)[0]?.message).toBe('must glow');
  });

  it('shows no English sentence to a Chinese reader', () => {
    const known = new ApiError({ status: 409, code: 'in_use', detail: 'english', rule: 'glass_there' });
    expect(errorText(known, i18next.t)).toBe('仍在使用中。此范围已启动紧急放行');
    const unknown = new ApiError({ status: 409, code: 'in_use', detail: 'english' });
    expect(errorText(unknown, i18next.t)).toBe('仍在使用中。');
  });
});
