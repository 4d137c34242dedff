/** The first instant of a local day "2026-11-21", `days` later, as the API takes it; "" for anything else. */
export function startOfDay(day: string, days = 0): string {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  if (!parts) return '';
  const at = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + days);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}
