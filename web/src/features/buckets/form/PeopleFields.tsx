import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { can, useMe } from '@/lib/api/me';
import { useAppNames, useUserNames } from '@/lib/api/names';
import { allApps } from '@/lib/definition';
import { NamesPicker } from '@/components/NamesPicker';

interface FieldProps {
  value?: string[];
  onChange?: (value: string[]) => void;
  error?: ReactNode;
}

/** The apps that may use the bucket. */
export function AppsField({ value = [], onChange, error }: FieldProps) {
  const { t } = useTranslation();
  const me = useMe();
  const [search, setSearch] = useState('');
  const apps = useAppNames(search);
  const every = { value: allApps, label: t('value.allApps') };
  const names = (apps.data ?? []).map((name) => ({ value: name, label: name }));
  const options = can(me, 'bucket.all_apps') || value.includes(allApps) ? [every, ...names] : names;
  return (
    <NamesPicker
      label={t('field.apps')}
      description={t('hint.apps')}
      placeholder={t('picker.apps')}
      options={options}
      value={value}
      // "All apps" stands alone: choosing it drops the names, choosing a name drops it.
      onChange={(chosen) => onChange?.(chosen.at(-1) === allApps ? [allApps] : chosen.filter((name) => name !== allApps))}
      onSearch={setSearch}
      error={error}
    />
  );
}

/** The people who may edit and delete the bucket. */
export function OwnersField({ value = [], onChange, error }: FieldProps) {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const users = useUserNames(search);
  return (
    <NamesPicker
      label={t('field.owners')}
      description={t('hint.owners')}
      placeholder={t('picker.owners')}
      options={(users.data ?? []).map((name) => ({ value: name, label: name }))}
      value={value}
      onChange={(chosen) => onChange?.(chosen)}
      onSearch={setSearch}
      error={error}
      required
    />
  );
}
