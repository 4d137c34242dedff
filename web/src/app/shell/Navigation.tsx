import { NavLink, Stack } from '@mantine/core';
import { IconApps, IconBucketDroplet, IconHistory, IconKey, IconUsers } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'react-router';
import { can, useMe } from '@/lib/api/me';

/** The rooms of the console; those that a role may not enter are absent. */
export function Navigation() {
  const { t } = useTranslation();
  const me = useMe();
  const { pathname } = useLocation();
  const rooms = [
    { to: '/buckets', also: '/create/bucket', label: t('nav.buckets'), icon: IconBucketDroplet, shown: true },
    { to: '/apps', label: t('nav.apps'), icon: IconApps, shown: true },
    { to: '/people', label: t('nav.people'), icon: IconUsers, shown: can(me, 'user.see') },
    { to: '/tokens', label: t('nav.tokens'), icon: IconKey, shown: true },
    { to: '/audit', label: t('nav.audit'), icon: IconHistory, shown: can(me, 'audit.read') },
  ];
  return (
    <nav aria-label={t('nav.label')}>
      <Stack gap={4}>
        {rooms
          .filter((room) => room.shown)
          .map(({ to, also, label, icon: Icon }) => {
            const active = pathname === to || pathname.startsWith(`${to}/`) || pathname === also;
            return (
              <NavLink
                key={to}
                component={Link}
                to={to}
                label={label}
                leftSection={<Icon size={20} stroke={1.6} aria-hidden />}
                active={active}
                aria-current={active ? 'page' : undefined}
                variant="light"
                py="sm"
                bdrs="md"
              />
            );
          })}
      </Stack>
    </nav>
  );
}
