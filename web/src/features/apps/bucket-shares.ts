import { asked, type UsageTotals } from '@/components/chart/series';
import type { components } from '@/lib/api/schema.gen';
import type { StreamAppSample } from '@/lib/api/stream';

/** What the server tells of an app's buckets over a range. */
export type AppUsageShares = Pick<components['schemas']['AppUsage'], 'buckets' | 'others'>;

export interface BucketShare extends UsageTotals {
  /** Null where the row is of several buckets. */
  name: string | null;
  /** How many buckets the row is of. */
  buckets: number;
  deleted: boolean;
  /** Its part of all permits asked for, 0..1. */
  share: number;
  /** Permits a second now; null where that is not known. */
  now: UsageTotals | null;
}

const nothing: UsageTotals = { granted: 0, limited: 0, shadow_limited: 0 };

/** What the app asked for in each bucket over a range, the greatest first, with what it asks for now. */
export function bucketShares(usage: AppUsageShares, now: StreamAppSample | null): BucketShare[] {
  const shares = usage.buckets ?? [];
  const live = new Map((now?.buckets ?? []).map((rates) => [rates.name, rates]));
  const all = [...shares, ...(usage.others ? [usage.others] : [])].reduce((sum, share) => sum + asked(share), 0);
  const part = (sum: UsageTotals) => (all > 0 ? asked(sum) / all : 0);
  // One that the stream does not name is idle, unless it is among its others.
  const rates = (name: string) => (now?.rates ? (live.get(name) ?? (now.others ? null : nothing)) : null);
  const named = shares.map((share) => ({ ...share, buckets: 1, share: part(share), now: rates(share.name) }));
  const known = new Set(shares.map(({ name }) => name));
  const others = usage.others;
  if (others) {
    const rest = sumOf([...live.values()].filter(({ name }) => !known.has(name)), now?.others ?? nothing);
    return [...named, { ...others, name: null, deleted: false, share: part(others), now: now?.rates ? rest : null }];
  }
  // Used for the first time, so that no reading of the range has it yet.
  const fresh = [...live.values()]
    .filter(({ name }) => !known.has(name))
    .map((rate) => ({ ...nothing, name: rate.name, buckets: 1, deleted: false, share: 0, now: rate }));
  return [...named, ...fresh];
}

function sumOf(rates: readonly UsageTotals[], first: UsageTotals): UsageTotals {
  return rates.reduce<UsageTotals>(
    (sum, { granted, limited, shadow_limited }) => ({
      granted: sum.granted + granted,
      limited: sum.limited + limited,
      shadow_limited: sum.shadow_limited + shadow_limited,
    }),
    first,
  );
}
