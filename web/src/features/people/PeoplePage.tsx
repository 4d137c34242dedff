import { Button, Group, Select, Text } from '@mantine/core';
import { IconFilterOff, IconHelp, IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import { useUrlDialog, useUrlDialogOf } from '@/lib/url-dialog';
import { useUrlSet } from '@/lib/url-state';
import { ActionButton } from '@/components/ActionButton';
import { ClearFilters } from '@/components/ClearFilters';
import { CursorPager } from '@/components/CursorPager';
import { DataTable } from '@/components/DataTable';
import { PageHeader } from '@/components/PageHeader';
import { SearchInput } from '@/components/SearchInput';
import { ErrorState, ForbiddenState, State } from '@/components/States';
import { useUser, useUsers } from './api/users';
import { CreateUserDialog } from './CreateUserDialog';
import { EditUserDialog } from './EditUserDialog';
import { PasswordDialog } from './PasswordDialog';
import { roles } from './roles';
import { useUserColumns } from './columns';
import { WhyDialog } from './WhyDialog';

/** The people who can log in. Auditors read it, admins manage it. */
export function PeoplePage() {
  const me = useMe();
  return can(me, 'user.see') ? <People /> : <ForbiddenState permission="user.see" />;
}

function People() {
  const { t } = useTranslation();
  const me = useMe();
  const manages = can(me, 'user.manage');
  const [params] = useSearchParams();
  const set = useUrlSet();
  const [creating, { open, close }] = useUrlDialog('new');
  const [asked, why] = useUrlDialogOf('why');
  const [editing, edit] = useUrlDialogOf('edit');
  const [resetting, reset] = useUrlDialogOf('password');
  const get = (name: string) => params.get(name) ?? '';
  const query = { search: get('search'), role: get('role'), sort: get('sort') || 'name', cursor: get('cursor') };
  const users = useUsers(query);
  const columns = useUserColumns({ onEdit: ({ name }) => edit.open(name), onPassword: ({ name }) => reset.open(name) });
  const of = (manages || null) && (editing ?? resetting);
  const listed = users.data?.items.find((user) => user.name === of);
  const one = useUser(of, listed);
  const asksOf = (name: string | null) => ({ name: manages ? name : null, record: one.data ?? listed, error: one.error });
  const empty = users.data?.items.length === 0;
  return (
    <>
      <PageHeader
        title={t('people.title')}
        description={t('people.description')}
        actions={
          <>
            <Button variant="default" onClick={() => why.open()} leftSection={<IconHelp size={18} aria-hidden />}>
              {t('why.title')}
            </Button>
            <ActionButton
              onClick={open}
              leftSection={<IconPlus size={18} aria-hidden />}
              denied={manages ? undefined : t('denied.people')}
            >
              {t('people.create')}
            </ActionButton>
          </>
        }
      />
      <Group mb="md" gap="sm" role="search">
        <SearchInput label={t('people.search')} />
        <Select
          aria-label={t('field.role')}
          placeholder={t('field.role')}
          data={roles.map((role) => ({ value: role, label: t(`role.${role}`) }))}
          value={query.role || null}
          onChange={(role) => set({ role: role ?? '' })}
          clearable
          clearButtonProps={{ 'aria-label': t('common.clearFilter', { filter: t('field.role') }) }}
          w={160}
        />
      </Group>
      {users.error && !users.data ? (
        <ErrorState error={users.error} onRetry={() => void users.refetch()} />
      ) : empty ? (
        <State
          icon={IconFilterOff}
          title={t('people.noMatch')}
          actions={<ClearFilters onClear={() => set({ search: '', role: '' })} />}
        >
          <Text c="dimmed">{t('buckets.noMatchText')}</Text>
        </State>
      ) : (
        <DataTable
          label={t('people.title')}
          columns={columns}
          rows={users.data?.items}
          rowId={(user) => user.name}
          sort={query.sort}
          onSort={(sort) => set({ sort: sort === 'name' ? '' : sort })}
        />
      )}
      <CursorPager next={users.data?.next || undefined} />
      <WhyDialog asked={asked} onAsk={why.change} onClose={why.close} />
      <CreateUserDialog opened={creating && manages} onClose={close} />
      <EditUserDialog of={asksOf(editing)} onClose={edit.close} />
      <PasswordDialog of={asksOf(resetting)} onClose={reset.close} />
    </>
  );
}
