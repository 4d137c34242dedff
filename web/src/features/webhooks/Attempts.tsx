import { Code, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { WebhookDetail } from '@/lib/api/types';
import { formatNumber } from '@/lib/format/numbers';
import { DataTable, type Column } from '@/components/DataTable';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';
import { failureText } from './failure';

type Attempt = WebhookDetail['attempts'][number];

/** The last deliveries to an endpoint, newest first. */
export function Attempts({ attempts }: { attempts: Attempt[] }) {
  const { t, i18n } = useTranslation();
  const columns: Column<Attempt>[] = [
    { id: 'at', header: t('webhooks.at'), heading: true, cell: ({ at }) => <RelativeTime at={at} /> },
    {
      id: 'outcome',
      header: t('webhooks.outcome'),
      cell: ({ status, error }) => (
        <>
          <StateBadge tone={error ? 'bad' : 'good'}>
            {error ? t('webhooks.failed') : t('webhooks.delivered', { status })}
          </StateBadge>
          {error && <Text size="sm">{failureText(error, t)}</Text>}
        </>
      ),
    },
    {
      id: 'took',
      header: t('webhooks.took'),
      cell: ({ took_ms }) => `${formatNumber(took_ms, i18n.language)} ${t('unit.ms')}`,
    },
    { id: 'event', header: t('webhooks.event'), cell: ({ event }) => <Event id={event} /> },
  ];
  return (
    <Section title={t('webhooks.attempts')} description={t('webhooks.attemptsHint')}>
      {attempts.length === 0 ? (
        <Text c="dimmed">{t('webhooks.noAttempts')}</Text>
      ) : (
        <DataTable label={t('webhooks.attempts')} columns={columns} rows={attempts} rowId={({ event, at }) => `${event} ${at}`} />
      )}
    </Section>
  );
}

const together = /^alerts-(\d+)-(\d+)/;

/** What was delivered: an event's id, and of several alerts in one delivery which these were. */
function Event({ id }: { id: string }) {
  const { t } = useTranslation();
  const [, first, last] = together.exec(id) ?? [];
  return (
    <>
      <Code style={{ overflowWrap: 'anywhere' }}>{id}</Code>
      {first && <Text size="sm">{t('webhooks.together', { first, last })}</Text>}
    </>
  );
}
