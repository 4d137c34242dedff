import { limitKind } from '@/lib/definition';
import { formatNumber } from './numbers';

/** The units in which a period may be written, longest first. */
export const periodUnits = [
  { unit: 'd', ms: 86_400_000 },
  { unit: 'h', ms: 3_600_000 },
  { unit: 'min', ms: 60_000 },
  { unit: 's', ms: 1_000 },
  { unit: 'ms', ms: 1 },
] as const;

export type PeriodUnit = (typeof periodUnits)[number]['unit'];

/** Splits a period into a whole number of the longest unit that fits: 90,000 ms is 90 s, 60,000 ms is 1 min. */
export function splitPeriod(ms: number): { count: number; unit: PeriodUnit } {
  const fit = periodUnits.find((u) => ms >= u.ms && ms % u.ms === 0) ?? { unit: 'ms' as const, ms: 1 };
  return { count: ms / fit.ms, unit: fit.unit };
}

export function joinPeriod(count: number, unit: PeriodUnit): number {
  return count * (periodUnits.find((u) => u.unit === unit)?.ms ?? 1);
}

/** What makes a limit; algorithms without a rate of their own leave rate aside. */
export interface Limit {
  algorithm: string;
  rate: number;
  period_ms: number;
  max_permits: number;
}

/** The values that the words of a limit are made of ("100 per 1 s, burst 500"). `context` picks the algorithm's words. */
export interface LimitWords extends Record<string, string> {
  rate: string;
  count: string;
  unit: PeriodUnit;
  max: string;
  context: string;
}

/** Prepares a limit for the translation `limit.words`. */
export function limitWords(limit: Limit, language: string): LimitWords {
  const { count, unit } = splitPeriod(limit.period_ms);
  return {
    rate: formatNumber(limit.rate, language, 3),
    count: formatNumber(count, language, 3),
    unit,
    max: formatNumber(limit.max_permits, language, 3),
    context: limit.algorithm,
  };
}

/** Permits that may be granted per second in the long run; null for slots, which limit no rate. */
export function ratePerSecond({ algorithm, rate, period_ms, max_permits }: Limit): number | null {
  const kind = limitKind(algorithm);
  if (kind === 'slots') return null;
  return ((kind === 'rate' ? rate : max_permits) * 1000) / period_ms;
}

/** Milliseconds from an empty token bucket to a full one, rounded up to whole ones. */
export function fillTime(limit: Pick<Limit, 'rate' | 'period_ms' | 'max_permits'>): number {
  return Math.ceil((limit.max_permits * limit.period_ms) / limit.rate);
}

/** A length of time rounded to two significant units' precision for reading: 5 s, 1.5 min, 3.2 d. */
export function roughDuration(ms: number, language: string): { count: string; unit: PeriodUnit } {
  const fit = periodUnits.find((u) => ms >= u.ms) ?? { unit: 'ms' as const, ms: 1 };
  return { count: formatNumber(ms / fit.ms, language, 1), unit: fit.unit };
}
