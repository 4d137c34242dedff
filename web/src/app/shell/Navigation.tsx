import { NavLink, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'react-router';
import { roomsFor } from '@/app/rooms';
import { useMe } from '@/lib/api/me';

/** The rooms of the console. */
export function Navigation() {
  const { t } = useTranslation();
  const me = useMe();
  const { pathname } = useLocation();
  return (
    <nav aria-label={t('nav.label')}>
      <Stack gap={4}>
        {roomsFor(me, t).map(({ to, also, label, icon: Icon }) => {
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
