import { useMemo, useState } from 'react';
import type { Bucket } from '@/lib/api/types';
import { bulkMost } from '@/features/buckets/api/bulk';

type Chosen = ReadonlyMap<string, Bucket>;

const none: Chosen = new Map();

/**
 * The rows that are picked, as they were seen when they were picked: what somebody else changes afterwards is told when
 * it is saved. The picks last from page to page; other filters, told by `scope`, begin with none. `first` are picked already.
 */
export function useSelection(scope: string, first: readonly Bucket[] = []) {
  const [state, setState] = useState<State>(() => ({ scope, chosen: changed(none, first, true), anchor: '' }));
  const { chosen } = within(scope, state);
  // The functions stay the same while the scope does: rows that did not change need not be drawn again.
  const acts = useMemo(() => {
    const put = (next: (before: Chosen, anchor: string) => Chosen, nextAnchor = '') =>
      setState((before) => {
        const now = within(scope, before);
        return { scope, chosen: next(now.chosen, now.anchor), anchor: nextAnchor };
      });
    return {
      /** Picks or drops a row, and with `range` all between it and the one before. */
      toggle: (rows: readonly Bucket[], bucket: Bucket, range: boolean) =>
        put((before, anchor) => {
          const at = rows.findIndex(({ name }) => name === bucket.name);
          const from = range ? rows.findIndex(({ name }) => name === anchor) : -1;
          const meant = from < 0 ? [bucket] : rows.slice(Math.min(at, from), Math.max(at, from) + 1);
          return changed(before, meant, !before.has(bucket.name));
        }, bucket.name),
      toggleAll: (rows: readonly Bucket[], on: boolean) => put((before) => changed(before, rows, on)),
      replace: (buckets: readonly Bucket[]) => put(() => changed(none, buckets, true)),
      drop: (names: readonly string[]) => put((before) => new Map([...before].filter(([name]) => !names.includes(name)))),
      clear: () => put(() => none),
    };
  }, [scope]);
  return useMemo(() => ({ chosen, ...acts }), [chosen, acts]);
}

interface State {
  scope: string;
  chosen: Chosen;
  /** The row that was picked or dropped last. */
  anchor: string;
}

function within(scope: string, state: State): State {
  return state.scope === scope ? state : { scope, chosen: none, anchor: '' };
}

export type Selection = ReturnType<typeof useSelection>;

/** Adds or takes away those rows that may be edited, up to the bound of a bulk edit. */
export function changed(chosen: Chosen, rows: readonly Bucket[], on: boolean): Chosen {
  const next = new Map(chosen);
  for (const bucket of rows) {
    if (!on) next.delete(bucket.name);
    else if (bucket.may.edit && (next.has(bucket.name) || next.size < bulkMost)) next.set(bucket.name, bucket);
  }
  return next;
}
