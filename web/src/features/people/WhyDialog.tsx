import { Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAppNames } from '@/lib/api/names';
import type { Action } from '@/lib/api/types';
import { FormDialog } from '@/components/FormDialog';
import { useActions, useAllUsers, useBucketNames } from './api/why';
import { WhyAnswer } from './WhyAnswer';

interface WhyDialogProps {
  /** What is asked so far, as the URL says it; null while the dialog is closed. */
  asked: string | null;
  onAsk: (asked: string) => void;
  onClose: () => void;
}

/** Asks whether a user may do something somewhere, and why. The question is in the URL, so that its answer can be shown to others. */
export function WhyDialog({ asked, onAsk, onClose }: WhyDialogProps) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={asked !== null} onClose={onClose} title={t('why.title')}>
      {asked !== null && <Ask asked={asked} onAsk={onAsk} />}
    </FormDialog>
  );
}

function Ask({ asked, onAsk }: { asked: string; onAsk: (asked: string) => void }) {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const question = new URLSearchParams(asked);
  const [user, action, object] = [question.get('user'), question.get('action'), question.get('object')];
  const users = useAllUsers(search);
  const actions = useActions();
  const known = actions.data?.some((one) => one.action === action);
  const ofAction = (name: string | null) => actions.data?.find((one) => one.action === name)?.of ?? 'all';
  const of = ofAction(action);
  const disabled = new Set(users.data?.filter((one) => one.disabled).map(({ name }) => name));

  function ask(changed: Record<string, string | null>) {
    const next = Object.entries({ user, action, object, ...changed }).filter((pair): pair is [string, string] => Boolean(pair[1]));
    onAsk(new URLSearchParams(next).toString());
  }
  return (
    <Stack>
      <Select
        label={t('field.user')}
        data={withChosen(users.data?.map(({ name }) => name), user)}
        renderOption={({ option: { value } }) => (disabled.has(value) ? t('why.disabledUser', { name: value }) : value)}
        value={user}
        onChange={(chosen) => ask({ user: chosen })}
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
        onChange={(chosen) => ask({ action: chosen, ...(ofAction(chosen) === of ? {} : { object: null }) })}
        searchable
        nothingFoundMessage={t('picker.nothing')}
      />
      {action && known && of !== 'all' && <ObjectSelect key={of} of={of} value={object} onChange={(chosen) => ask({ object: chosen })} />}
      {action && known === false && <Text role="status">{t('why.noAction', { action })}</Text>}
      {user && action && known && <WhyAnswer user={user} action={action} of={of} object={object ?? ''} />}
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
