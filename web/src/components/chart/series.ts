import type { Change } from '@/lib/api/types';
import { ratePerSecond, type Limit } from '@/lib/format/limit';

/** One point of a chart: permits per second, NaN where that is not known. */
export interface Sample {
  /** Redis time in seconds since 1970. */
  at: number;
  granted: number;
  /** What was refused, and in shadow mode what would have been. */
  limited: number;
  /** Permits per second that the definition adds; NaN when that says nothing about the sum of all. */
  limit: number;
}

/** The points of a chart, oldest first, by columns: as objects, thousands of them would have to be forgotten at each update. */
export type Samples = Record<keyof Sample, Float64Array>;

export const noSamples: Samples = columns(0);

function columns(length: number): Samples {
  return { at: new Float64Array(length), granted: new Float64Array(length), limited: new Float64Array(length), limit: new Float64Array(length) };
}

function sampleAt({ at, granted, limited, limit }: Samples, index: number): Sample | undefined {
  if (index < 0 || index >= at.length) return undefined;
  return { at: at[index] ?? NaN, granted: granted[index] ?? NaN, limited: limited[index] ?? NaN, limit: limit[index] ?? NaN };
}

/** An instant at which the definition changed, and to which revision. */
export interface Revised {
  at: number;
  revision: number;
}

/** The ranges of the chart: live seconds, minutes from Redis, hours from the database. */
export const ranges = ['live', '1h', '24h', '90d'] as const;
export type Range = (typeof ranges)[number];

export const rangeSeconds: Record<Range, number> = { live: 300, '1h': 3_600, '24h': 86_400, '90d': 90 * 86_400 };

/** What one app used in one step of a range. */
export interface UsageRow {
  minute: number;
  app: string;
  granted: number;
  limited: number;
  shadow_limited: number;
}

/** What was used, in permits. */
export interface UsageTotals {
  granted: number;
  limited: number;
  shadow_limited: number;
}

/** A limit at an instant, in permits per second; null where a line would mislead. */
export type LimitAt = (second: number) => number | null;

/** The rows of all apps as rates over each step; steps without a row had no calls. */
export function toSamples(rows: readonly UsageRow[], stepMinutes: number, nowSecond: number, span: number, limitAt: LimitAt): Samples {
  const step = stepMinutes * 60;
  const count = Math.round(span / step);
  const first = Math.floor(nowSecond / step) * step - (count - 1) * step;
  const { at, granted, limited, limit } = columns(count);
  for (let i = 0; i < count; i++) {
    at[i] = first + i * step;
    limit[i] = limitAt(first + i * step) ?? NaN;
  }
  for (const row of rows) {
    const i = (row.minute * 60 - first) / step;
    if (i < 0 || i >= count) continue;
    const seconds = Math.max(1, Math.min(step, nowSecond - (first + i * step))); // the running step is not over
    granted[i] = (granted[i] ?? 0) + row.granted / seconds;
    limited[i] = (limited[i] ?? 0) + (row.limited + row.shadow_limited) / seconds;
  }
  return { at, granted, limited, limit };
}

interface Usage {
  items: readonly UsageRow[] | null;
  step_minutes: number;
  redis_time_us: number;
}

/** What the server told of a range, as samples; `askedAt` in ms is the time where Redis's clock is not known. */
export function samplesOf(usage: Usage | undefined, askedAt: number, span: number, limitAt: LimitAt): Samples {
  if (!usage) return noSamples;
  const now = (usage.redis_time_us || askedAt * 1000) / 1_000_000;
  return toSamples(usage.items ?? [], usage.step_minutes, now, span, limitAt);
}

export interface AppShare extends UsageTotals {
  app: string;
  /** The app's part of all permits asked for, 0..1. */
  share: number;
}

/** Permits asked for, whatever came of it. */
export function asked(sum: UsageTotals): number {
  return sum.granted + sum.limited + sum.shadow_limited;
}

/** What each app asked for, the greatest first; who asked for nothing has no share. */
export function shares(rows: readonly UsageRow[]): AppShare[] {
  const sums = new Map<string, UsageTotals>();
  for (const row of rows) {
    let sum = sums.get(row.app);
    if (!sum) sums.set(row.app, (sum = { granted: 0, limited: 0, shadow_limited: 0 }));
    sum.granted += row.granted;
    sum.limited += row.limited;
    sum.shadow_limited += row.shadow_limited;
  }
  const all = [...sums.values()].reduce((total, sum) => total + asked(sum), 0);
  return [...sums]
    .filter(([, sum]) => asked(sum) > 0)
    .map(([app, sum]) => ({ app, ...sum, share: asked(sum) / all }))
    .sort((a, b) => b.share - a.share || (a.app < b.app ? -1 : 1));
}

/** Whether minutes are the same as others, but for what happened in the last one, which runs. */
export function sameWhole(minutes: Samples, others: Samples): boolean {
  const same = (one: Float64Array, other: Float64Array) => one.length === other.length && one.every((value, i) => i === one.length - 1 || Object.is(value, other[i]));
  return minutes.at.at(-1) === others.at.at(-1) && same(minutes.at, others.at) && same(minutes.granted, others.granted) && same(minutes.limited, others.limited) && same(minutes.limit, others.limit);
}

/** What has gone by before the live seconds begin, as the means of minutes, and then the seconds. */
export function joined(minutes: Samples, seconds: readonly Sample[]): Samples {
  const first = seconds[0]?.at ?? Infinity;
  const points: Sample[] = [];
  // The last one runs: before the first second it is not known how far.
  const count = seconds.length > 0 ? minutes.at.length : minutes.at.length - 1;
  for (let i = 0; i < count; i++) {
    const mean = sampleAt(minutes, i);
    if (mean && mean.at < first) addLevel(points, mean, mean.at, Math.min(mean.at + minute, first) - 1);
  }
  addWithoutGaps(points, minutes, seconds);
  const joint = columns(points.length);
  points.forEach((point, i) => {
    joint.at[i] = point.at;
    joint.granted[i] = point.granted;
    joint.limited[i] = point.limited;
    joint.limit[i] = point.limit;
  });
  return joint;
}

const missed = 3; // s without a sample are a gap: one comes each second, and a slow reader gets only the newest

/** Has the means of the minutes stand in where seconds are missing: the page was hidden or paused, or nothing answered. */
function addWithoutGaps(points: Sample[], minutes: Samples, seconds: readonly Sample[]): void {
  let last = Infinity;
  for (const sample of seconds) {
    if (sample.at - last > missed) addBetween(points, minutes, last + 1, sample.at - 1);
    points.push(sample);
    last = sample.at;
  }
}

/** The minutes between two seconds, and gaps where they are not known, so that no line is drawn over those. */
function addBetween(points: Sample[], minutes: Samples, from: number, to: number): void {
  const gap = () => points.push({ at: from, granted: NaN, limited: NaN, limit: NaN });
  for (let i = 0; i < minutes.at.length; i++) {
    const mean = sampleAt(minutes, i);
    if (!mean || mean.at + minute <= from || mean.at > to) continue;
    if (mean.at > from) gap();
    addLevel(points, mean, Math.max(from, mean.at), Math.min(to, mean.at + minute - 1));
    from = mean.at + minute;
  }
  if (from < to) gap();
}

/** A minute's mean over a part of it. */
function addLevel(points: Sample[], mean: Sample, from: number, to: number): void {
  points.push({ ...mean, at: from }, { ...mean, at: Math.max(from, to) });
}

const minute = 60; // s

/** The limit that was in force at each instant, by the changes (newest first) that are known. */
export function limitHistory(present: Limit & { partition: string; mode: string }, changes: readonly Change[]): LimitAt {
  type Definition = (Limit & { partition: string; mode: string }) | null;
  const known = changes
    .filter((change) => change.after !== null || change.before !== null)
    .map(({ at, before, after }) => ({ from: Date.parse(at) / 1000, before: lineOf(before as Definition), after: lineOf(after as Definition) }));
  const oldest = known.at(-1);
  const earliest = oldest ? oldest.before : lineOf(present);
  // Whoever draws asks for one instant after the other.
  let [from, until, inForce]: [number, number, number | null] = [Infinity, Infinity, null];
  return (second) => {
    if (!(from <= second && second < until)) {
      const index = known.findIndex((change) => change.from <= second);
      [from, until] = [known[index]?.from ?? -Infinity, known[index < 0 ? known.length - 1 : index - 1]?.from ?? Infinity];
      inForce = known[index] ? known[index].after : earliest;
    }
    return inForce;
  };
}

/** With several partitions each has the limit for itself; a line beside their sum would mislead. */
export function lineOf(definition: (Limit & { partition: string; mode: string }) | null): number | null {
  return definition && definition.partition === 'shared' && definition.mode !== 'off' ? ratePerSecond(definition) : null;
}
