import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { AdminServer, System } from '@/lib/api/types';
import { DataTable, type Column } from '@/components/DataTable';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';

const tones = { running: 'good', draining: 'watch', silent: 'bad' } as const;

/** The servers of Headgate, as each tells of itself in the database. */
export function ServersCard({ system }: { system: System }) {
  const { t } = useTranslation();
  const columns: Column<AdminServer>[] = [
    {
      id: 'host',
      header: t('system.host'),
      heading: true,
      cell: (one) => (
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {one.host || one.id}
          {one.this && (
            <Text span size="sm" c="dimmed" fw={400}>
              {' '}
              {t('system.answers')}
            </Text>
          )}
        </Text>
      ),
    },
    { id: 'version', header: t('system.versionOf'), cell: (one) => one.version },
    { id: 'state', header: t('field.state'), cell: (one) => <StateBadge tone={tones[one.state]}>{t(`system.server.${one.state}`)}</StateBadge> },
    { id: 'started', header: t('system.started'), cell: (one) => <RelativeTime at={one.started_at} /> },
    { id: 'seen', header: t('system.seen'), cell: (one) => <RelativeTime at={one.seen_at} /> },
  ];
  return (
    <Section title={t('system.servers')} description={t('system.serversText')}>
      {system.servers_known ? (
        <DataTable label={t('system.servers')} columns={columns} rows={system.servers} rowId={(one) => one.id} />
      ) : (
        <Text>{t('system.serversUnknown')}</Text>
      )}
    </Section>
  );
}
