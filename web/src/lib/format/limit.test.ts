import { describe, expect, test } from 'vitest';
import type { Language } from '@/lib/i18n';
import { speaking } from '@/lib/testing';
import { fillTime, joinPeriod, limitWords, periodUnits, ratePerSecond, roughDuration, splitPeriod, type Limit } from './limit';

const tokens = { algorithm: 'token_bucket' };

async function words(language: Language, limit: Limit) {
  const i18n = await speaking(language);
  const values = limitWords(limit, language);
  return i18n.t('limit.words', { ...values, unit: i18n.t(`unit.${values.unit}`) });
}

describe('a limit in words', () => {
  test('reads as people say it', async () => {
    expect(await words('en', { ...tokens, rate: 100, period_ms: 1000, max_permits: 500 })).toBe('100 per 1 s, burst 500');
    expect(await words('en', { ...tokens, rate: 240, period_ms: 3_600_000, max_permits: 1_000_000 })).toBe('240 per 1 h, burst 1,000,000');
    expect(await words('en', { ...tokens, rate: 7, period_ms: 90_000, max_permits: 1 })).toBe('7 per 90 s, burst 1');
    expect(await words('zh-CN', { ...tokens, rate: 100, period_ms: 60_000, max_permits: 500 })).toBe('每 1 分钟 100 个，突发 500');
  });

  test('says of each algorithm what it is', async () => {
    const limit = (algorithm: string) => ({ algorithm, rate: 0, period_ms: 60_000, max_permits: 1000 });
    expect(await words('en', limit('fixed_window'))).toBe('1,000 in each 1 min');
    expect(await words('en', limit('sliding_window'))).toBe('1,000 in any 1 min');
    expect(await words('en', limit('sliding_log'))).toBe('1,000 in any 1 min');
    expect(await words('en', limit('concurrency'))).toBe('1,000 at a time, lease 1 min');
    expect(await words('zh-CN', limit('concurrency'))).toBe('同时 1,000 个，租约 1 分钟');
  });

  test('loses nothing of a period that is a whole number of no longer unit', () => {
    for (const ms of [1, 999, 1000, 1001, 59_000, 60_000, 3_600_000, 86_400_000, 31 * 86_400_000, 86_400_001]) {
      const { count, unit } = splitPeriod(ms);
      expect(Number.isInteger(count)).toBe(true);
      expect(joinPeriod(count, unit)).toBe(ms);
    }
  });

  test('uses the longest unit that fits', () => {
    for (const { unit, ms } of periodUnits) expect(splitPeriod(ms)).toEqual({ count: 1, unit });
  });

  test('knows its rate per second and its time to fill', () => {
    expect(ratePerSecond({ ...tokens, rate: 240, period_ms: 3_600_000, max_permits: 40 })).toBeCloseTo(1 / 15);
    expect(ratePerSecond({ algorithm: 'fixed_window', rate: 0, period_ms: 60_000, max_permits: 600 })).toBe(10);
    expect(ratePerSecond({ algorithm: 'concurrency', rate: 0, period_ms: 30_000, max_permits: 4 })).toBeNull();
    expect(fillTime({ rate: 3, period_ms: 1000, max_permits: 10 })).toBe(3334);
    expect(roughDuration(90_000, 'en')).toEqual({ count: '1.5', unit: 'min' });
    expect(roughDuration(0.5, 'en')).toEqual({ count: '0.5', unit: 'ms' });
  });
});
