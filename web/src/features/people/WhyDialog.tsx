import { Select, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAppNames } from '@/lib/api/names';
import type { Action } from '@/lib/api/types';
import { FormDialog } from '@/components/FormDialog';
import { useActions, useAllUsers, useBucketNames } from './api/why';
import { WhyAnswer } from './WhyAnswer';

/** Asks whether a user may do something somewhere, and why. */
export function WhyDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={opened} onClose={onClose} title={t('why.title')}>
      <Ask />
    </FormDialog>
  );
}

function Ask() {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const [user, setUser] = useState<string | null>(null);
  const [action, setAction] = useState<string | null>(null);
  const [object, setObject] = useState<string | null>(null);
  const users = useAllUsers(search);
  const actions = useActions();
  const of = actions.data?.find((one) => one.action === action)?.of ?? 'all';
  const disabled = new Set(users.data?.filter((one) => one.disabled).map(({ name }) => name));
  const choose = (chosen: string | null) => {
    if (actions.data?.find((one) => one.action === chosen)?.of !== of) setObject(null);
    setAction(chosen);
  };
  return (
    <Stack>
      <Select
        label={t('field.user')}
        data={withChosen(users.data?.map(({ name }) => name), user)}
        renderOption={({ option: { value } }) => (disabled.has(value) ? t('why.disabledUser', { name: value }) : value)}
        value={user}
        onChange={setUser}
        searchable
        onSearchChange={setSearch}
        nothingFoundMessage={t('picker.nothing')}
        openOnFocus={false}
        data-autofocus
      />
      <Select
        label={t('why.action')}
        data={(actions.data ?? []).map((one) => ({ value: one.action, label: actionName(one.action, t) }))}
        value={action}
        onChange={choose}
        searchable
        nothingFoundMessage={t('picker.nothing')}
      />
      {action && of !== 'all' && <ObjectSelect key={of} of={of} value={object} onChange={setObject} />}
      {user && action && <WhyAnswer user={user} action={action} of={of} object={object ?? ''} />}
    </Stack>
  );
}

/** The action in words, with the permission's name, which the API and the refusals use. */
function actionName(action: string, t: ReturnType<typeof useTranslation>['t']): string {
  return `${t(`permission.${action.replace(/[.]/g, '_')}`, { defaultValue: action })} (${action})`;
}

interface ObjectSelectProps {
  of: Exclude<Action['of'], 'all'>;
  value: string | null;
  onChange: (value: string | null) => void;
}

function ObjectSelect({ of, value, onChange }: ObjectSelectProps) {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const buckets = useBucketNames(search, of === 'bucket');
  const apps = useAppNames(search);
  return (
    <Select
      label={t(of === 'bucket' ? 'why.bucket' : 'field.app')}
      data={withChosen(of === 'bucket' ? buckets.data : apps.data, value)}
      value={value}
      onChange={onChange}
      searchable
      onSearchChange={setSearch}
      nothingFoundMessage={t('picker.nothing')}
    />
  );
}

/** What was chosen stays an option when the search moves on. */
function withChosen(names: string[] | undefined, chosen: string | null): string[] {
  const list = names ?? [];
  return chosen === null || list.includes(chosen) ? list : [chosen, ...list];
}
