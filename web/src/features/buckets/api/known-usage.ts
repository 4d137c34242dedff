import type { components } from '@/lib/api/schema.gen';

type Usage = components['schemas']['BucketUsage'];

/** Usage as far as it is known, with the instant at which all of it was asked for, in ms. */
export interface KnownUsage extends Usage {
  wholeAt?: number;
}

const late = 5; // minutes; so long an SDK that could not reach Redis may yet add to what is over
const wholeEvery = 15 * 60_000; // ms; what came later still is seen by then

/** How many of the newest minutes to ask for, given what is known; null for all of the range. */
export function missingMinutes(known: KnownUsage | undefined, knownAt: number, rangeMinutes: number, now: number): number | null {
  if (known?.wholeAt === undefined || now < knownAt || now - known.wholeAt > wholeEvery) return null;
  const missing = Math.ceil((now - knownAt) / 60_000) + late;
  return missing < rangeMinutes / 2 ? missing : null;
}

/** What is known, with its newest minutes replaced; null where minutes between were never asked for. */
export function joinUsage(known: KnownUsage, newest: Usage, minutes: number, rangeMinutes: number): KnownUsage | null {
  const last = minuteOf(newest);
  const from = last - minutes + 1;
  if (from > minuteOf(known) + 1) return null;
  const kept = (known.items ?? []).filter(({ minute }) => minute > last - rangeMinutes && minute < from);
  return { ...newest, items: [...kept, ...(newest.items ?? [])], ...(known.wholeAt !== undefined && { wholeAt: known.wholeAt }) };
}

function minuteOf({ redis_time_us }: Usage): number {
  return Math.floor(redis_time_us / 60_000_000);
}
