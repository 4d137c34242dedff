import { Select, type SelectProps } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAppNames } from '@/lib/api/names';
import type { Bucket } from '@/lib/api/types';
import { allApps } from '@/lib/definition';

interface AppSelectProps extends Pick<SelectProps, 'onChange' | 'error' | 'maw'> {
  bucket: Bucket;
  value?: string;
}

/** Picks one of the apps that may acquire: of a bucket of all apps one that the reader may see, found by the server. */
export function AppSelect({ bucket, value = '', ...rest }: AppSelectProps) {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const every = bucket.apps.includes(allApps);
  const found = useAppNames(search === value ? '' : search);
  const names = every ? (found.data ?? []) : bucket.apps;
  return (
    <Select
      {...rest}
      label={t('use.app')}
      // What is chosen stays though the list was narrowed to other names.
      data={value && !names.includes(value) ? [value, ...names] : names}
      value={value}
      allowDeselect={false}
      searchable
      limit={26}
      nothingFoundMessage={t('picker.nothing')}
      onSearchChange={setSearch}
    />
  );
}
