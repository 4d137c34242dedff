import { Group, Select } from '@mantine/core';
import { memo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { useAppNames, useUserNames } from '@/lib/api/names';
import { modes } from '@/lib/definition';
import { useUrlSet } from '@/lib/url-state';
import { SearchInput } from '@/components/SearchInput';
import { useLabelNames } from '@/features/buckets/api/labels';

/** Search and filters of the bucket list; what the list finds does not draw them anew. */
export const BucketFilters = memo(function BucketFilters() {
  const { t } = useTranslation();
  return (
    <Group mb="md" gap="sm" align="flex-end" role="search" aria-label={t('buckets.filters')}>
      <SearchInput label={t('buckets.search')} />
      <FoundSelect param="app" label={t('field.app')} useFound={useAppNames} />
      <FoundSelect param="owner" label={t('field.owner')} useFound={useUserNames} />
      <UrlSelect
        param="mode"
        label={t('field.mode')}
        options={modes.map((mode) => ({ value: mode, label: t(`mode.${mode}.name`) }))}
      />
      <FoundSelect param="label" label={t('field.label')} useFound={useLabelNames} />
      <UrlSelect
        param="sync"
        label={t('field.sync')}
        options={(['synced', 'pending'] as const).map((state) => ({ value: state, label: t(`sync.${state}`) }))}
      />
    </Group>
  );
});

interface FoundSelectProps {
  param: string;
  label: string;
  /** Asks the server for what contains a text. */
  useFound: (search: string) => { data: string[] | undefined };
}

/** A filter whose options the server finds. What is typed into it draws no other filter anew. */
function FoundSelect({ param, label, useFound }: FoundSelectProps) {
  const [search, setSearch] = useState('');
  const { data = none } = useFound(search);
  return <UrlSelect param={param} label={label} options={data} onSearch={setSearch} />;
}

const none: string[] = [];

interface UrlSelectProps {
  param: string;
  label: string;
  options: readonly (string | { value: string; label: string })[];
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
