import { zoneOption, type Zone } from '@/lib/zone';
import { kept } from './kept';

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

const recent = 7 * 86_400; // s; older instants are written as dates

const skew = 5; // s that the clocks of server and browser may be apart: what has just happened is not "in 2 seconds"

const relative = kept((language: string) => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }));
const date = kept((language: string, zone: Zone) => new Intl.DateTimeFormat(language, { dateStyle: 'medium', ...zoneOption(zone) }));
const second = kept(
  (language: string, zone: Zone) =>
    new Intl.DateTimeFormat(language, {
      ...zoneOption(zone),
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'short',
    }),
);

/** "3 minutes ago"; instants older than a week as a date. */
export function relativeTime(at: Date, now: Date, language: string, zone: Zone = 'local'): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000);
  if (Math.abs(seconds) > recent) return date(language, zone).format(at);
  const format = relative(language);
  if (seconds > 0 && seconds <= skew) return format.format(0, 'second');
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) >= length) return format.format(Math.trunc(seconds / length), unit);
  }
  return format.format(0, 'second');
}

/** Date and time to the second with the zone's name. */
export function absoluteTime(at: Date, language: string, zone: Zone = 'local'): string {
  return second(language, zone).format(at);
}
