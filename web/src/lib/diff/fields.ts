/** What a change row keeps of a record: its fields by name. */
export type Snapshot = Readonly<Record<string, unknown>>;

export interface FieldDifference {
  field: string;
  before: unknown;
  after: unknown;
}

/** Two values are equal when they are written equally; lists and maps are compared by content. */
export function equal(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, v: unknown) =>
    v !== null && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  );
}

/** The fields in which two snapshots differ, in the order of `order`, then by name; null stands for "nothing there". */
export function diffFields(
  before: Snapshot | null | undefined,
  after: Snapshot | null | undefined,
  order: readonly string[] = [],
): FieldDifference[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const rank = (field: string) => (order.includes(field) ? order.indexOf(field) : order.length);
  return [...names]
    .filter((field) => !equal(before?.[field], after?.[field]))
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map((field) => ({ field, before: before?.[field], after: after?.[field] }));
}

export interface MergedField {
  field: string;
  base: unknown;
  theirs: unknown;
  yours: unknown;
  /** Both sides changed the field, to different values. */
  conflict: boolean;
}

/** Lays two edits of one base side by side: the fields that either side changed. */
export function compareEdits(base: Snapshot, theirs: Snapshot, yours: Snapshot, fields: readonly string[]): MergedField[] {
  return fields
    .map((field) => {
      const [b, t, y] = [base[field], theirs[field], yours[field]];
      return { field, base: b, theirs: t, yours: y, conflict: !equal(b, t) && !equal(b, y) && !equal(t, y) };
    })
    .filter(({ base: b, theirs: t, yours: y }) => !equal(b, t) || !equal(b, y));
}

/** Your edit moved onto theirs: the fields that you changed stay yours, all others become theirs. */
export function rebase<T extends Snapshot>(base: T, theirs: T, yours: T): T {
  const merged: Record<string, unknown> = { ...theirs };
  for (const field of Object.keys(yours)) {
    if (!equal(base[field], yours[field])) merged[field] = yours[field];
  }
  return merged as T;
}
