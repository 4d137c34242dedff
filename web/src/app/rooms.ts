import {
  IconApps,
  IconBucketDroplet,
  IconHeartbeat,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconUserCircle,
  IconUsers,
  IconWebhook,
  type Icon,
} from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { can } from '@/lib/api/me';
import type { Me } from '@/lib/api/types';

/** A page that the navigation and the palette lead to. */
export interface Room {
  to: string;
  /** A page that counts as part of this room though it lies elsewhere. */
  also?: string;
  label: string;
  icon: Icon;
  /** Pressed after "g", it leads here. */
  key: string;
}

/** The rooms of the console; those that a role may not enter are absent. */
export function roomsFor(me: Me, t: TFunction): Room[] {
  const rooms: (Room & { shown?: boolean })[] = [
    { to: '/overview', label: t('nav.overview'), icon: IconLayoutDashboard, key: 'o' },
    { to: '/buckets', also: '/create/bucket', label: t('nav.buckets'), icon: IconBucketDroplet, key: 'b' },
    { to: '/apps', label: t('nav.apps'), icon: IconApps, key: 'a' },
    { to: '/people', label: t('nav.people'), icon: IconUsers, key: 'p', shown: can(me, 'user.see') },
    { to: '/tokens', label: t('nav.tokens'), icon: IconKey, key: 't' },
    { to: '/webhooks', label: t('nav.webhooks'), icon: IconWebhook, key: 'w', shown: can(me, 'webhook.manage') },
    { to: '/audit', also: '/as-of', label: t('nav.audit'), icon: IconHistory, key: 'l', shown: can(me, 'audit.read') },
    { to: '/system', label: t('nav.system'), icon: IconHeartbeat, key: 's', shown: can(me, 'system.see') },
  ];
  return rooms.filter((room) => room.shown ?? true);
}

/** One's own page, which the menu of the account leads to. */
export function profileRoom(t: TFunction): Room {
  return { to: '/profile', label: t('nav.profile'), icon: IconUserCircle, key: 'm' };
}
