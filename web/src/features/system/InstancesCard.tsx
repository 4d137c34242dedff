import { Group, Switch, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SystemInstance } from '@/lib/api/types';
import { DataTable, type Column } from '@/components/DataTable';
import { errorText } from '@/components/error-text';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';
import { useSystemInstances } from './api/system';

const pause = 250; // ms without typing before the list follows
const shown = 50;

/** The live SDK instances; those that decide by an earlier revision are marked. */
export function InstancesCard() {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const [behind, setBehind] = useState(false);
  const [settled] = useDebouncedValue(search.trim(), pause);
  const { data, error } = useSystemInstances(settled, behind);
  return (
    <Section
      title={t('instances.title')}
      description={t('system.instancesText')}
      actions={
        data && data.total > 0 && !error ? (
          <StateBadge tone={data.behind === 0 ? 'good' : 'watch'}>
            {data.behind === 0 ? t('instances.allCurrent') : t('instances.behind', { count: data.behind })}
          </StateBadge>
        ) : undefined
      }
    >
      <Group mb="md" gap="md" role="search">
        <TextInput
          type="search"
          aria-label={t('system.searchInstances')}
          placeholder={t('system.searchInstances')}
          value={search}
          maxLength={200}
          onChange={(event) => setSearch(event.currentTarget.value)}
          leftSection={<IconSearch size={16} aria-hidden />}
          flex="1 1 14rem"
        />
        <Switch label={t('system.onlyBehind')} checked={behind} onChange={(event) => setBehind(event.currentTarget.checked)} />
      </Group>
      {error ? (
        <Text role="status">{errorText(error, t)}</Text>
      ) : data?.items.length === 0 ? (
        <Text c="dimmed">{settled || behind ? t('system.noInstance') : t('system.noInstances')}</Text>
      ) : (
        <Instances items={data?.items.slice(0, shown)} />
      )}
      {data && !error && data.total > shown && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('common.more', { count: data.total - shown })}
        </Text>
      )}
    </Section>
  );
}

function Instances({ items }: { items: SystemInstance[] | undefined }) {
  const { t } = useTranslation();
  const columns: Column<SystemInstance>[] = [
    {
      id: 'host',
      header: t('instances.host'),
      heading: true,
      cell: (one) => (
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {one.host || one.id}
        </Text>
      ),
    },
    { id: 'app', header: t('field.app'), cell: (one) => one.app },
    { id: 'version', header: t('system.versionOf'), cell: (one) => one.version },
    { id: 'revisions', header: t('system.revisions'), cell: (one) => <Revisions one={one} /> },
    { id: 'seen', header: t('system.seen'), cell: (one) => <RelativeTime at={one.last_seen} /> },
  ];
  return <DataTable label={t('instances.title')} columns={columns} rows={items} rowId={(one) => one.id} />;
}

function Revisions({ one }: { one: SystemInstance }) {
  const { t } = useTranslation();
  if (one.behind_count === 0) return t('system.current', { count: one.buckets });
  return (
    <>
      <StateBadge tone="watch">{t('system.behindOf', { behind: one.behind_count, count: one.buckets })}</StateBadge>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {one.behind.map((b) => `${b.bucket} ${b.revision} → ${b.present}`).join(', ')}
      </Text>
    </>
  );
}
