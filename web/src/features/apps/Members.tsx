import { Button, Group, Select, Text } from '@mantine/core';
import { IconUserMinus } from '@tabler/icons-react';
import { useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useUserNames } from '@/lib/api/names';
import type { App, AppRole, Member } from '@/lib/api/types';
import { useDraft } from '@/lib/drafts';
import { useOpenForm } from '@/lib/unsaved';
import { ActionButton } from '@/components/ActionButton';
import { CurlButton } from '@/components/CurlButton';
import { DataTable, type Column } from '@/components/DataTable';
import { showDone, showError } from '@/components/notify';
import { showUndoable } from '@/components/notify-undo';
import { Section } from '@/components/Section';
import { useRemoveMember, useSetMember } from './api/one';

const roles: AppRole[] = ['viewer', 'owner'];

/** The members of an app. `denied` says why one may not change them. */
export function Members({ app, denied }: { app: App; denied: string | undefined }) {
  const { t } = useTranslation();
  const columns = useColumns(app, denied);
  return (
    <Section
      title={t('field.members')}
      description={
        <>
          {t('apps.membersHint')} {denied}
        </>
      }
    >
      {app.members.length > 0 ? (
        <DataTable label={t('field.members')} columns={columns} rows={app.members} rowId={(member) => member.user} />
      ) : (
        <Text c="dimmed">{t('apps.noMembers')}</Text>
      )}
      {denied === undefined ? (
        <AddMember app={app} />
      ) : (
        <ActionButton mt="md" denied={denied}>
          {t('apps.addMember')}
        </ActionButton>
      )}
    </Section>
  );
}

function useColumns(app: App, denied: string | undefined): Column<Member>[] {
  const { t } = useTranslation();
  return [
    { id: 'user', header: t('field.user'), heading: true, cell: (member) => <Text fw={600} inherit>{member.user}</Text> },
    {
      id: 'role',
      header: t('field.role'),
      cell: (member) =>
        denied === undefined ? <RoleSelect app={app.name} member={member} /> : t(`appRole.${member.role}`),
    },
    {
      id: 'remove',
      header: t('table.actions'),
      cell: (member) => <RemoveMember app={app.name} member={member} denied={denied} />,
    },
  ];
}

// Who is a member shows at once and can be taken back; a refusal puts it back by itself.
function RoleSelect({ app, member }: { app: string; member: Member }) {
  const { t } = useTranslation();
  const set = useSetMember(app);
  const { user } = member;

  function change(role: AppRole, undo?: () => void) {
    set.mutate(
      { user, role },
      {
        onSuccess: () => showUndoable(t('apps.roleSet', { user, role: t(`appRole.${role}`) }), t, undo),
        onError: (error) => showError(error, t),
      },
    );
  }

  return (
    <Select
      aria-label={t('apps.roleOf', { user })}
      data={roles.map((role) => ({ value: role, label: t(`appRole.${role}`) }))}
      value={member.role}
      onChange={(role) => role !== member.role && change(role as AppRole, () => change(member.role))}
      allowDeselect={false}
      size="xs"
      maw={160}
    />
  );
}

function RemoveMember({ app, member, denied }: { app: string; member: Member; denied: string | undefined }) {
  const { t } = useTranslation();
  const remove = useRemoveMember(app);
  const set = useSetMember(app);
  const { user } = member;

  // The row is gone by now, and with it whatever was handed to mutate: so these are the promises of the requests.
  async function undo() {
    try {
      await set.mutateAsync(member);
      showDone(t('apps.memberSet', { user }), t);
    } catch (error) {
      showError(error, t);
    }
  }
  async function submit() {
    try {
      await remove.mutateAsync(user);
      showUndoable(t('apps.memberRemoved', { user }), t, () => void undo());
    } catch (error) {
      showError(error, t);
    }
  }

  return (
    <ActionButton
      variant="default"
      size="xs"
      aria-label={t('apps.removeMember', { user })}
      leftSection={<IconUserMinus size={16} aria-hidden />}
      onClick={() => void submit()}
      denied={denied}
    >
      {t('apps.remove')}
    </ActionButton>
  );
}

/** Who is no member yet; whoever was picked stays an option when the search moves on. */
function offered(names: readonly string[] | undefined, user: string | null, members: ReadonlySet<string>): string[] {
  const others = (names ?? []).filter((name) => !members.has(name));
  return user === null || others.includes(user) ? others : [user, ...others];
}

function AddMember({ app }: { app: App }) {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const draft = useDraft<{ user: string; role: AppRole }>('member');
  const [user, setUser] = useState<string | null>(draft?.values.user ?? null);
  const [role, setRole] = useState<AppRole>(draft?.values.role ?? 'viewer');
  const users = useUserNames(search);
  const set = useSetMember(app.name);
  useOpenForm({
    dirty: () => user !== null && !set.isPending,
    keep: () => (user === null ? null : { id: 'member', values: { user, role } }),
  });
  const members = new Set(app.members.map((member) => member.user));

  function submit(event: FormEvent) {
    event.preventDefault();
    if (user === null) return;
    set.mutate(
      { user, role },
      {
        onSuccess: () => {
          setUser(null);
          showDone(t('apps.memberSet', { user }), t);
        },
        onError: (error) => showError(error, t),
      },
    );
  }

  return (
    <form onSubmit={submit}>
      <Group align="flex-end" mt="md" gap="sm">
        <Select
          label={t('apps.addMember')}
          placeholder={t('picker.owners')}
          data={offered(users.data, user, members)}
          value={user}
          onChange={setUser}
          searchable
          onSearchChange={setSearch}
          nothingFoundMessage={t('picker.nothing')}
          flex="1 1 12rem"
          maw={{ sm: 280 }}
        />
        <Select
          label={t('field.role')}
          data={roles.map((value) => ({ value, label: t(`appRole.${value}`) }))}
          value={role}
          onChange={(value) => setRole(value as AppRole)}
          allowDeselect={false}
          w={140}
        />
        <Button type="submit" variant="default" disabled={user === null} loading={set.isPending}>
          {t('common.add')}
        </Button>
        <CurlButton call={() => ({ method: 'PUT', path: `/apps/${app.name}/members/${encodeURIComponent(user ?? '')}`, body: { role } })} disabled={user === null} />
      </Group>
    </form>
  );
}
