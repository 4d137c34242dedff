import type { Zone } from '@/lib/zone';

/** The first instant of a day "2026-11-21" in a zone, `days` later, as the API takes it; "" for anything else. */
export function startOfDay(day: string, zone: Zone, days = 0): string {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  if (!parts) return '';
  const date = [Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + days] as const;
  const at = zone === 'UTC' ? new Date(Date.UTC(...date)) : new Date(...date);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

/** The instant of a local date and time "2026-11-21T10:30" in a zone, as the API takes it; "" for anything else. */
export function instantOf(text: string, zone: Zone): string {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/.test(text)) return '';
  const at = new Date(zone === 'UTC' ? `${text}Z` : text);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}
