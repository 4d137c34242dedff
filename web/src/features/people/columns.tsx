import { Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { can, useMe } from '@/lib/api/me';
import type { User } from '@/lib/api/types';
import type { Column } from '@/components/DataTable';
import { ActionButton } from '@/components/ActionButton';
import { RelativeTime } from '@/components/RelativeTime';
import { StateBadge } from '@/components/StateBadge';
import { Written } from '@/components/Written';

interface UserActions {
  onEdit: (user: User) => void;
  onPassword: (user: User) => void;
}

/** The columns of the list of people; the actions say to others what they lack. */
export function useUserColumns({ onEdit, onPassword }: UserActions): Column<User>[] {
  const { t } = useTranslation();
  const me = useMe();
  const columns: Column<User>[] = [
    {
      id: 'name',
      header: t('field.user'),
      sort: 'name',
      heading: true,
      cell: (user) => (
        <>
          <Text fw={600} inherit style={{ overflowWrap: 'anywhere' }}>
            {user.name}
          </Text>
          <Text size="sm" c="dimmed">
            <Written>{user.display_name}</Written>
          </Text>
        </>
      ),
    },
    { id: 'role', header: t('field.role'), cell: (user) => <Role user={user} /> },
    { id: 'state', header: t('field.state'), cell: ({ disabled }) => <StateBadge tone={disabled ? 'off' : 'good'}>{t(disabled ? 'people.disabled' : 'people.enabled')}</StateBadge> },
    {
      id: 'updated',
      header: t('field.updated'),
      sort: 'updated_at',
      cell: (user) => <RelativeTime at={user.updated_at} />,
    },
  ];
  const denied = can(me, 'user.manage') ? undefined : t('denied.people');
  columns.push({
      id: 'actions',
      header: t('table.actions'),
      cell: (user) => (
        <Group gap="xs">
          <ActionButton size="xs" variant="default" onClick={() => onEdit(user)} aria-label={t('people.editOf', { user: user.name })} denied={denied}>
            {t('people.edit')}
          </ActionButton>
          <ActionButton
            size="xs"
            variant="default"
            onClick={() => onPassword(user)}
            aria-label={t('people.passwordOf', { user: user.name })}
            denied={denied ?? (user.service ? t('people.noPassword') : undefined)}
          >
            {t('people.password')}
          </ActionButton>
        </Group>
      ),
  });
  return columns;
}

function Role({ user }: { user: User }) {
  const { t } = useTranslation();
  return (
    <>
      {t(`role.${user.role}`, { defaultValue: user.role })}
      {user.service && (
        <Text size="sm" c="dimmed">
          {t('people.service')}
        </Text>
      )}
    </>
  );
}
