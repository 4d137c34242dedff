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

/** The values that the words of a limit are made of ("100 per 1 s, burst 500"). */
export interface LimitWords extends Record<string, string> {
  rate: string;
  count: string;
  unit: PeriodUnit;
  max: string;
}

/** Prepares a token bucket's limit for the translation `limit.words`. */
export function limitWords(
  limit: { rate: number; period_ms: number; max_permits: number },
  language: string,
): LimitWords {
  const number = new Intl.NumberFormat(language);
  const { count, unit } = splitPeriod(limit.period_ms);
  return {
    rate: number.format(limit.rate),
    count: number.format(count),
    unit,
    max: number.format(limit.max_permits),
  };
}

/** Permits added per second. */
export function ratePerSecond(limit: { rate: number; period_ms: number }): number {
  return (limit.rate * 1000) / limit.period_ms;
}

/** Milliseconds from empty to full, rounded up to whole ones. */
export function fillTime(limit: { rate: number; period_ms: number; max_permits: number }): number {
  return Math.ceil((limit.max_permits * limit.period_ms) / limit.rate);
}

/** A length of time rounded to two significant units' precision for reading: 5 s, 1.5 min, 3.2 d. */
export function roughDuration(ms: number, language: string): { count: string; unit: PeriodUnit } {
  const fit = periodUnits.find((u) => ms >= u.ms) ?? { unit: 'ms' as const, ms: 1 };
  return { count: new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(ms / fit.ms), unit: fit.unit };
}
