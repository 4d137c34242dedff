import type * as Notices from '@mantine/notifications';
import type { NotificationData } from '@mantine/notifications';

type Center = typeof Notices;

let center: Center | undefined;
let loading: Promise<Center> | undefined;
const listeners = new Set<() => void>();

/** Loads what shows notices; the first press of a key or a button does, which comes before whatever there is to say of it. */
export function loadNotices(): Promise<Center> {
  loading ??= import('@mantine/notifications').then((loaded) => {
    center = loaded;
    listeners.forEach((listener) => listener());
    return loaded;
  });
  loading.catch(() => (loading = undefined));
  return loading;
}

/** What shows notices; undefined while nothing has loaded it. */
export function noticeCenter(): Center | undefined {
  return center;
}

/** Calls the listener when it is loaded; returns the way to stop. */
export function onNoticeCenter(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows a notice. */
export function showNotice(notice: NotificationData): void {
  void loadNotices().then(({ notifications }) => notifications.show(notice));
}

/** Takes a notice away. */
export function hideNotice(id: string): void {
  center?.notifications.hide(id);
}
