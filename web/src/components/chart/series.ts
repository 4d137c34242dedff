import type { Change } from '@/lib/api/types';
import { ratePerSecond, type Limit } from '@/lib/format/limit';

/** One point of a chart: permits per second. */
export interface Sample {
  /** Redis time in seconds since 1970. */
  at: number;
  granted: number;
  limited: number;
  shadowLimited: number;
  /** Permits per second that the definition adds; null when that says nothing about the sum of all. */
  limit: number | null;
  /** Nothing is known from here to the next point: the page was hidden or paused, or Redis did not answer. */
  gap?: boolean;
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
export function toSamples(rows: readonly UsageRow[], stepMinutes: number, nowSecond: number, span: number, limitAt: LimitAt): Sample[] {
  const step = stepMinutes * 60;
  const count = Math.round(span / step);
  const first = Math.floor(nowSecond / step) * step - (count - 1) * step;
  const samples: Sample[] = [];
  for (let i = 0, at = first; i < count; i++, at += step) samples.push({ at, granted: 0, limited: 0, shadowLimited: 0, limit: limitAt(at) });
  for (const row of rows) {
    const sample = samples[(row.minute * 60 - first) / step];
    if (sample === undefined) continue;
    const seconds = Math.max(1, Math.min(step, nowSecond - sample.at)); // the running step is not over
    sample.granted += row.granted / seconds;
    sample.limited += row.limited / seconds;
    sample.shadowLimited += row.shadow_limited / seconds;
  }
  return samples;
}

interface Usage {
  items: readonly UsageRow[] | null;
  step_minutes: number;
  redis_time_us: number;
}

/** What the server told of a range, as samples; `askedAt` in ms is the time where Redis's clock is not known. */
export function samplesOf(usage: Usage | undefined, askedAt: number, span: number, limitAt: LimitAt): Sample[] {
  if (!usage) return [];
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

/** What each app asked for, the greatest first. */
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
    .map(([app, sum]) => ({ app, ...sum, share: all > 0 ? asked(sum) / all : 0 }))
    .sort((a, b) => b.share - a.share || (a.app < b.app ? -1 : 1));
}

/** What has gone by before the live seconds begin, as whole minutes, and then the seconds. */
export function joined(minutes: readonly Sample[], seconds: readonly Sample[]): Sample[] {
  const first = seconds[0]?.at ?? Infinity;
  const before = minutes.slice(0, -1).filter((sample) => sample.at + minute <= first);
  return [...before.flatMap((sample) => [sample, { ...sample, at: sample.at + minute - 1 }]), ...withGaps(seconds)];
}

const missed = 3; // s without a sample are a gap: one comes each second, and a slow reader gets only the newest

/** Marks where samples are missing, so that no line is drawn over what nobody saw. */
function withGaps(seconds: readonly Sample[]): readonly Sample[] {
  const all = seconds.flatMap((sample, index) => {
    const before = seconds[index - 1];
    return before !== undefined && sample.at - before.at > missed ? [{ ...before, at: before.at + 1, gap: true }, sample] : [sample];
  });
  return all.length === seconds.length ? seconds : all;
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
