import { useEffect, useSyncExternalStore } from 'react';
import { loadNotices, noticeCenter, onNoticeCenter } from '@/components/notices';

const first = { once: true, capture: true } as const;
const load = () => void loadNotices().catch(() => undefined); // the first notice tries again

/** The place of notices, which are no part of a first load. */
export function Notices() {
  const center = useSyncExternalStore(onNoticeCenter, noticeCenter);
  useEffect(() => {
    for (const press of ['pointerdown', 'keydown']) window.addEventListener(press, load, first);
    return () => {
      for (const press of ['pointerdown', 'keydown']) window.removeEventListener(press, load, first);
    };
  }, []);
  return center ? <center.Notifications position="bottom-right" /> : null;
}
