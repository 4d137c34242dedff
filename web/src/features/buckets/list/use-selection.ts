import { useState } from 'react';
import type { Bucket } from '@/lib/api/types';
import { bulkMost } from '@/features/buckets/api/bulk';

type Chosen = ReadonlyMap<string, Bucket>;

const none: Chosen = new Map();

/**
 * The rows that are picked, as they were seen when they were picked: what somebody else changes afterwards is told when
 * it is saved. The picks last from page to page; other filters, told by `scope`, begin with none.
 */
export function useSelection(scope: string) {
  const [state, setState] = useState({ scope, chosen: none, anchor: '' });
  const { chosen, anchor } = state.scope === scope ? state : { chosen: none, anchor: '' };
  const put = (next: Chosen, nextAnchor = '') => setState({ scope, chosen: next, anchor: nextAnchor });

  /** Picks or drops a row, and with `range` all between it and the one before. */
  function toggle(rows: readonly Bucket[], bucket: Bucket, range: boolean) {
    const at = rows.findIndex(({ name }) => name === bucket.name);
    const from = range ? rows.findIndex(({ name }) => name === anchor) : -1;
    const meant = from < 0 ? [bucket] : rows.slice(Math.min(at, from), Math.max(at, from) + 1);
    put(changed(chosen, meant, !chosen.has(bucket.name)), bucket.name);
  }

  return {
    chosen,
    toggle,
    toggleAll: (rows: readonly Bucket[], on: boolean) => put(changed(chosen, rows, on)),
    replace: (buckets: readonly Bucket[]) => put(changed(none, buckets, true)),
    drop: (names: readonly string[]) => put(new Map([...chosen].filter(([name]) => !names.includes(name)))),
    clear: () => put(none),
  };
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
