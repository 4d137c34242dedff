import { Group, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { useUserNames } from '@/lib/api/names';
import { useUrlSet, useUrlText } from '@/lib/url-state';
import { actionLabel } from '@/components/action-text';
import { actions, targetKinds } from '@/lib/actions';

/** The filters of the audit log. */
export function AuditFilters() {
  const { t } = useTranslation();
  const target = useUrlText('target');
  return (
    <Group mb="md" gap="sm" align="flex-end" role="search" aria-label={t('audit.filters')}>
      <ActorSelect />
      <UrlSelect
        param="action"
        label={t('field.action')}
        options={actions.map((action) => ({ value: action, label: actionLabel(action, t) }))}
      />
      <UrlSelect
        param="target_kind"
        label={t('field.target_kind')}
        options={targetKinds.map((kind) => ({ value: kind, label: t(`kind.${kind}`) }))}
      />
      <TextInput
        label={t('field.target')}
        value={target.value}
        onChange={(event) => target.onChange(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        flex="1 1 9rem"
      />
      <UrlDate param="from" label={t('audit.from')} />
      <UrlDate param="to" label={t('audit.to')} />
    </Group>
  );
}

/** What is typed into it draws no other filter anew. */
function ActorSelect() {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const users = useUserNames(search).data;
  return <UrlSelect param="actor" label={t('field.actor')} options={[...(users ?? []), 'system']} onSearch={setSearch} />;
}

interface UrlSelectProps {
  param: string;
  label: string;
  options: (string | { value: string; label: string })[];
  onSearch?: (text: string) => void;
}

function UrlSelect({ param, label, options, onSearch }: UrlSelectProps) {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const set = useUrlSet();
  const value = params.get(param);
  const known = options.some((option) => (typeof option === 'string' ? option : option.value) === value);
  return (
    <Select
      label={label}
      placeholder={t('common.any')}
      data={value && !known ? [...options, value] : options}
      value={value}
      onChange={(chosen) => set({ [param]: chosen ?? '' })}
      clearable
      clearButtonProps={{ 'aria-label': t('common.clearFilter', { filter: label }) }}
      nothingFoundMessage={t('picker.nothing')}
      searchable
      {...(onSearch ? { onSearchChange: onSearch } : {})}
      flex="1 1 9rem"
    />
  );
}

function UrlDate({ param, label }: { param: string; label: string }) {
  const [params] = useSearchParams();
  const set = useUrlSet();
  return (
    <TextInput
      type="date"
      label={label}
      value={params.get(param) ?? ''}
      onChange={(event) => set({ [param]: event.currentTarget.value })}
      flex="1 1 9rem"
    />
  );
}
