import { Avatar, Menu, Text, UnstyledButton } from '@mantine/core';
import { IconKeyboard, IconLogout, IconUserCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useMe } from '@/lib/api/me';
import { useLogout } from './use-logout';

/** Who is logged in, their own page, and the way out. */
export function UserMenu({ onHelp }: { onHelp: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const logout = useLogout();
  const name = me.display_name || me.name;
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton aria-label={t('shell.account', { name })} bdrs="xl">
          <Avatar name={name} size={34} radius="xl" color="water" variant="filled" aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div style={{ padding: '0.5rem 0.75rem' }}>
          <Text fw={600} truncate>
            {name}
          </Text>
          <Text size="sm" c="dimmed" truncate>
            {me.name} · {t(`role.${me.role}`)}
          </Text>
        </div>
        <Menu.Divider />
        <Menu.Item component={Link} to="/profile" leftSection={<IconUserCircle size={16} aria-hidden />}>
          {t('nav.profile')}
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={16} aria-hidden />} onClick={onHelp}>
          {t('shortcuts.title')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => logout.mutate()}>
          {t('shell.logout')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
