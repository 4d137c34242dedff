import { readFileSync } from 'node:fs';
import i18next from 'i18next';
import { beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '@/lib/api/problem';
import { faultInWords, fieldErrorsOf } from '@/lib/form-errors';
import { lookup } from '@/lib/i18n';
import en from '@/lib/i18n/en';
import zh from '@/lib/i18n/zh';
import { saidRule } from '@/lib/said-rule';
import { errorText } from '@/components/error-text';

interface Document {
  components: { schemas: { FieldError: { properties: { code: { enum: string[] } } } } };
}

const codes = (JSON.parse(readFileSync('../docs/openapi.json', 'utf8')) as Document).components.schemas.FieldError.properties.code.enum;

/** What a catalogue has a text for, whatever the number. */
const codesOf = ({ brokenRule }: { brokenRule: object }) =>
  Object.keys(brokenRule)
    .filter((key) => !(key.endsWith('_one') && key.slice(0, -4) in brokenRule))
    .sort();

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
    expect(codesOf(en)).toEqual([...codes].sort());
    expect(codesOf(zh)).toEqual([...codes].sort());
  });

  it('tells a detail as a sentence of its own, and names as they are written', async () => {
    const en = i18next.getFixedT('en');
    await i18next.changeLanguage('en');
    const listed = new ApiError({ status: 409, code: 'in_use', rule: 'app_listed', params: { name: 'shop', count: '3' } });
    expect(errorText(listed, en)).toBe('It is still in use. The app shop is listed by 3 buckets; take it out there first.');
    const service = new ApiError({ status: 403, code: 'forbidden', rule: 'service_login', params: { name: 'robot' } });
    expect(errorText(service, en)).toBe('You may not do this. robot is a service account, which never logs in.');
    await i18next.changeLanguage('zh-CN');
  });

  it('gives the id under which the log tells more, unless it stands beside it', () => {
    const failed = new ApiError({ status: 500, code: 'internal', request_id: '4f3a' });
    expect(errorText(failed, i18next.t)).toContain('4f3a');
    expect(errorText(failed, i18next.t, true)).not.toContain('4f3a');
  });

  it('says of a request that was no JSON that it could not be read, in the reader’s language', () => {
    const broken = new ApiError({ status: 400, code: 'malformed', detail: 'the request is not valid', errors: [{ field: 'body', message: 'is not JSON at byte 1' }] });
    expect(errorText(broken, i18next.t)).toBe('服务器无法读取该请求。');
    expect(fieldErrorsOf(broken)).toEqual([]);
  });

  it('speaks of one in the singular', () => {
    const listed = (count: string) => saidRule('app_listed', { name: 'shop', count }, i18next.getFixedT('en'));
    expect(listed('1')).toBe('the app shop is listed by 1 bucket; take it out there first');
    expect(listed('2')).toBe('the app shop is listed by 2 buckets; take it out there first');
    const stale = (n: string) => saidRule('bulk_stale', { n }, i18next.getFixedT('en'));
    expect(stale('1')).toBe('nothing was changed: 1 of the buckets was changed meanwhile');
    expect(stale('2')).toBe('nothing was changed: 2 of the buckets were changed meanwhile');
  });

  it('names a field as the forms do, and an entry of a list under its list', () => {
    const refused = (field: string) => faultInWords({ field, message: '不存在' });
    expect(refused('apps[0]')).toBe('应用: 不存在');
    expect(refused('labels.team')).toBe('标签: 不存在');
    expect(refused('max_permits')).toBe(`${zh.field.max_permits}: 不存在`);
    expect(refused('glow')).toBe('glow: 不存在');
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
    expect(errorText(known, i18next.t)).toBe('仍在使用中。此范围已启动紧急放行。');
    const unknown = new ApiError({ status: 409, code: 'in_use', detail: 'english' });
    expect(errorText(unknown, i18next.t)).toBe('仍在使用中。');
  });
});
