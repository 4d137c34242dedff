import { Group, Select } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { useAppNames, useUserNames } from '@/lib/api/names';
import { modes } from '@/lib/definition';
import { useUrlSet } from '@/lib/url-state';
import { SearchInput } from '@/components/SearchInput';
import { useLabelNames } from '@/features/buckets/api/labels';

/** Search and filters of the bucket list. */
export function BucketFilters() {
  const { t } = useTranslation();
  const [appSearch, setAppSearch] = useState('');
  const [ownerSearch, setOwnerSearch] = useState('');
  const [labelSearch, setLabelSearch] = useState('');
  const labels = useLabelNames(labelSearch);
  const apps = useAppNames(appSearch);
  const owners = useUserNames(ownerSearch);
  return (
    <Group mb="md" gap="sm" align="flex-end" role="search" aria-label={t('buckets.filters')}>
      <SearchInput label={t('buckets.search')} />
      <UrlSelect param="app" label={t('field.app')} options={apps.data ?? []} onSearch={setAppSearch} />
      <UrlSelect param="owner" label={t('field.owner')} options={owners.data ?? []} onSearch={setOwnerSearch} />
      <UrlSelect
        param="mode"
        label={t('field.mode')}
        options={modes.map((mode) => ({ value: mode, label: t(`mode.${mode}.name`) }))}
      />
      <UrlSelect param="label" label={t('field.label')} options={labels.data ?? []} onSearch={setLabelSearch} />
      <UrlSelect
        param="sync"
        label={t('field.sync')}
        options={(['synced', 'pending'] as const).map((state) => ({ value: state, label: t(`sync.${state}`) }))}
      />
    </Group>
  );
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
  const values = options.map((option) => (typeof option === 'string' ? option : option.value));
  return (
    <Select
      aria-label={label}
      placeholder={label}
      // What the URL says stays selectable though the list was narrowed to other names.
      data={value && !values.includes(value) ? [...options, value] : options}
      value={value}
      onChange={(chosen) => set({ [param]: chosen ?? '' })}
      clearable
      clearButtonProps={{ 'aria-label': t('common.clearFilter', { filter: label }) }}
      nothingFoundMessage={t('picker.nothing')}
      searchable={onSearch !== undefined}
      {...(onSearch ? { onSearchChange: onSearch } : {})}
      flex="1 1 9rem"
      maw={{ sm: 200 }}
    />
  );
}
