import type { components } from '@/lib/api/schema.gen';

type Usage = components['schemas']['BucketUsage'];
type Rows = NonNullable<Usage['items']>;

const late = 5; // minutes; so long an SDK that could not reach Redis may yet add to what is over
const turns = 15; // questions within which all of a range is asked for again: what came later still is seen by then

/** How many of the newest minutes to ask for, given what is known; null for all of the range. */
export function missingMinutes(known: Usage | undefined, knownAt: number, range: number, now: number): number | null {
  if (!known || range === 0 || now < knownAt) return null;
  const missing = Math.ceil((now - knownAt) / 60_000) + late;
  return missing < range / 2 ? missing : null;
}

/** What is known, with its newest minutes replaced; null where minutes between were never asked for. */
export function joinUsage(known: Usage, newest: Usage, minutes: number, range: number): Usage | null {
  const last = minuteOf(newest);
  const from = last - minutes + 1;
  if (from > minuteOf(known) + 1) return null;
  const rows = replaced(known.items ?? [], newest.items ?? [], from, last);
  return { ...newest, items: rows.slice(firstAt(rows, last - range + 1)) };
}

/** Older minutes to ask for again: so many, of which `until` is the last one. */
export interface OlderMinutes {
  minutes: number;
  until: number;
}

/** The older minutes whose turn it is to be asked for again, after those that were asked for before. */
export function olderMinutes(known: Usage, range: number, before: OlderMinutes | null): OlderMinutes {
  const last = minuteOf(known);
  const next = before ? before.until - before.minutes : -Infinity;
  return { minutes: Math.ceil(range / turns), until: next > last - range ? next : last - late };
}

/** What is known, with older minutes replaced: the same where they were known. */
export function correctUsage(known: Usage, older: Usage, { minutes, until }: OlderMinutes, range: number): Usage {
  const rows = known.items ?? [];
  const from = Math.max(until - minutes, minuteOf(known) - range) + 1; // the range has moved on meanwhile
  const before = rows.slice(firstAt(rows, from), firstAt(rows, until + 1));
  const found = (older.items ?? []).filter(({ minute }) => minute >= from);
  const same = found.length === before.length && found.every((row, i) => sameRow(row, before[i]));
  return same ? known : { ...known, items: replaced(rows, found, from, until) };
}

function sameRow(row: Rows[number], other: Rows[number] | undefined): boolean {
  return (
    row.minute === other?.minute &&
    row.app === other.app &&
    row.granted === other.granted &&
    row.limited === other.limited &&
    row.shadow_limited === other.shadow_limited
  );
}

/** Rows in the order of their minutes, those from one minute to another, both included, taken from others. */
function replaced(rows: Rows, others: Rows, from: number, to: number): Rows {
  return [...rows.slice(0, firstAt(rows, from)), ...others, ...rows.slice(firstAt(rows, to + 1))];
}

/** Where the rows of a minute, or of the next one that has any, begin. */
function firstAt(rows: Rows, minute: number): number {
  const at = rows.findIndex((row) => row.minute >= minute);
  return at < 0 ? rows.length : at;
}

function minuteOf({ redis_time_us }: Usage): number {
  return Math.floor(redis_time_us / 60_000_000);
}
