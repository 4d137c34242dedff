/** One counter as the server reports it: what one app used in one minute of Redis time. */
export interface Counter {
  minute: number;
  app: string;
  granted: number;
  limited: number;
  shadow_limited: number;
}

/** One answer of the live route, as far as rates need it. */
export interface Reading {
  redis_time_us: number;
  usage: readonly Counter[];
}

/** Rates over the time between two readings, in calls per second. */
export interface Rates {
  /** Redis time of the later reading, in seconds since 1970. */
  at: number;
  granted: number;
  limited: number;
  shadowLimited: number;
}

const longest = 30; // s; readings further apart say nothing about single seconds, and old minutes may be missing

/**
 * The rates between two readings. SDKs report each wall-clock second shortly after its end, so two readings taken at
 * the same place within their seconds lie a whole number of reported seconds apart: the elapsed time is rounded to it.
 * Null when the readings do not follow one another closely.
 */
export function ratesBetween(earlier: Reading, later: Reading): Rates | null {
  const seconds = Math.round((later.redis_time_us - earlier.redis_time_us) / 1_000_000);
  if (seconds < 1 || seconds > longest) return null;
  const before = new Map(earlier.usage.map((counter) => [keyOf(counter), counter]));
  const sum = { granted: 0, limited: 0, shadow_limited: 0 };
  for (const counter of later.usage) {
    const old = before.get(keyOf(counter));
    for (const kind of ['granted', 'limited', 'shadow_limited'] as const) {
      sum[kind] += growth(old?.[kind] ?? 0, counter[kind]);
    }
  }
  return {
    at: later.redis_time_us / 1_000_000,
    granted: sum.granted / seconds,
    limited: sum.limited / seconds,
    shadowLimited: sum.shadow_limited / seconds,
  };
}

/** A counter that shrank was lost with Redis's memory and began again. */
function growth(before: number, after: number): number {
  return after >= before ? after - before : after;
}

function keyOf(counter: Counter): string {
  return `${counter.minute} ${counter.app}`;
}

const phase = 750_000; // µs past the second; reports of the second before have arrived by then
const soonest = 250_000; // µs; never ask again earlier than this

/** How long to wait, in ms, so that the next reading falls 0.75 s past a second of Redis's clock. */
export function delayToNext(redisTimeUs: number): number {
  const toPhase = (((phase - (redisTimeUs % 1_000_000)) % 1_000_000) + 1_000_000) % 1_000_000;
  return (toPhase < soonest ? toPhase + 1_000_000 : toPhase) / 1000;
}
