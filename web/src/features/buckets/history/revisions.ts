/** The revisions of a bucket whose number or words hold what was typed, the very number first; at most `most` of them. */
export function matchingRevisions<T extends { value: string; label: string }>(all: readonly T[], typed: string, most: number): T[] {
  const text = typed.trim().toLowerCase();
  const found = all.filter(({ value, label }) => value === text || label.toLowerCase().includes(text));
  const exact = found.filter(({ value }) => value === text);
  return [...exact, ...found.filter(({ value }) => value !== text)].slice(0, most);
}
