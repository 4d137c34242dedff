import {
  IconBell,
  IconBucketDroplet,
  IconCalendarSearch,
  IconDeviceDesktop,
  IconKeyboard,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconPlus,
  IconSun,
  IconTrash,
  IconWorld,
  type Icon,
} from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { profileRoom, roomsFor } from '@/app/rooms';
import { can } from '@/lib/api/me';
import type { Me } from '@/lib/api/types';
import { languages, setLanguage } from '@/lib/i18n';
import { setZone } from '@/lib/zone';

/** One line of the palette. */
export interface Entry {
  id: string;
  group: 'pages' | 'actions' | 'buckets';
  label: string;
  /** Further words that find it. */
  words?: string;
  detail?: string;
  icon: Icon;
  /** Keys that do the same without the palette. */
  keys?: readonly string[];
  run: () => void;
}

/** What the entries can do to the console. */
export interface Reach {
  me: Me;
  t: TFunction;
  language: string;
  go: (path: string) => void;
  setScheme: (scheme: 'light' | 'dark' | 'auto') => void;
  help: () => void;
  logout: () => void;
}

const schemeIcons = { light: IconSun, dark: IconMoon, auto: IconDeviceDesktop } as const;

/** The pages and actions that are open to this person. */
export function fixedEntries({ me, t, language, go, setScheme, help, logout }: Reach): Entry[] {
  const pages: Entry[] = [...roomsFor(me, t), profileRoom(t)].map((room) => ({
    id: `page-${room.to}`,
    group: 'pages',
    label: room.label,
    icon: room.icon,
    keys: ['g', room.key],
    run: () => go(room.to),
  }));
  // Pages that other pages lead to.
  const inner = (to: string, label: string, icon: Icon): Entry => ({ id: `page-${to}`, group: 'pages', label, icon, run: () => go(to) });
  pages.push(inner('/alerts', t('alerts.title'), IconBell), inner('/deleted', t('deleted.title'), IconTrash));
  if (can(me, 'audit.read')) pages.push(inner('/as-of', t('asOf.title'), IconCalendarSearch));
  const actions: Entry[] = [];
  if (can(me, 'bucket.create')) {
    actions.push({ id: 'create', group: 'actions', label: t('buckets.create'), icon: IconPlus, keys: ['c'], run: () => go('/create/bucket') });
  }
  for (const scheme of ['light', 'dark', 'auto'] as const) {
    const label = t('palette.scheme', { scheme: t(`scheme.${scheme}`) });
    actions.push({ id: `scheme-${scheme}`, group: 'actions', label, icon: schemeIcons[scheme], run: () => setScheme(scheme) });
  }
  for (const { code, name } of languages) {
    if (code === language) continue;
    const label = t('palette.language', { language: name });
    actions.push({ id: `language-${code}`, group: 'actions', label, words: code, icon: IconLanguage, run: () => void setLanguage(code) });
  }
  for (const zone of ['local', 'UTC'] as const) {
    const label = t('palette.zone', { zone: t(`zone.${zone}`) });
    actions.push({ id: `zone-${zone}`, group: 'actions', label, icon: IconWorld, run: () => setZone(zone) });
  }
  actions.push({ id: 'help', group: 'actions', label: t('shortcuts.title'), icon: IconKeyboard, keys: ['?'], run: help });
  actions.push({ id: 'logout', group: 'actions', label: t('shell.logout'), icon: IconLogout, run: logout });
  return [...pages, ...actions];
}

export function bucketEntry(name: string, detail: string, go: (path: string) => void): Entry {
  return { id: `bucket-${name}`, group: 'buckets', label: name, detail, icon: IconBucketDroplet, run: () => go(`/buckets/${name}`) };
}

/** Whether every word of a search is in an entry. */
export function matches(entry: Entry, search: string): boolean {
  const text = `${entry.label} ${entry.words ?? ''}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
