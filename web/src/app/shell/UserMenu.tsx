import { Avatar, Menu, Text, UnstyledButton } from '@mantine/core';
import { IconLogout } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { api, unwrap } from '@/lib/api/client';
import { useMe } from '@/lib/api/me';
import { showError } from '@/components/notify';

/** Who is logged in, and the way out. */
export function UserMenu() {
  const { t } = useTranslation();
  const me = useMe();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const logout = useMutation({
    mutationFn: () => unwrap(api.POST('/api/v1/auth/logout')),
    onSuccess: async () => {
      await navigate('/login');
      queryClient.clear();
    },
    onError: (error) => showError(error, t),
  });
  const name = me.display_name || me.name;
  return (
    <Menu position="bottom-end" width={220}>
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
          <Text size="sm" c="dimmed">
            {me.name} · {t(`role.${me.role}`)}
          </Text>
        </div>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => logout.mutate()}>
          {t('shell.logout')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
