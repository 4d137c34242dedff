import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { absoluteTime, relativeTime } from '@/lib/format/time';
import { useZone } from '@/lib/zone';

const refreshEvery = 30_000; // ms

/** An instant as "3 minutes ago", with date, time and zone on hover, in the zone that the reader chose. */
export function RelativeTime({ at }: { at: string }) {
  return <Told key={at} at={at} />; // anew for another instant, which may be later than the last look at the clock
}

function Told({ at }: { at: string }) {
  const { i18n } = useTranslation();
  const zone = useZone();
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), refreshEvery);
    return () => clearInterval(timer);
  }, []);
  const instant = new Date(at);
  return (
    <time dateTime={at} title={absoluteTime(instant, i18n.language, zone)}>
      {relativeTime(instant, now, i18n.language, zone)}
    </time>
  );
}
