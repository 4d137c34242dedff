import { Anchor, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconBellOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import { useAlerts } from '@/lib/api/alerts';
import type { Alert } from '@/lib/api/types';
import { alertRuleText, alertValueText } from '@/components/alert-text';
import { CursorPager } from '@/components/CursorPager';
import { PageHeader } from '@/components/PageHeader';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';
import { StateBadge } from '@/components/StateBadge';
import { ErrorState, State } from '@/components/States';

const pageSize = 50;

/** What is open, and what was. */
export function AlertsPage() {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const cursor = params.get('cursor') ?? '';
  const alerts = useAlerts(cursor ? { cursor } : {}, pageSize);
  return (
    <>
      <PageHeader title={t('alerts.title')} description={t('alerts.pageText')} />
      {alerts.data && <Lists alerts={alerts.data.items} />}
      <CursorPager next={alerts.data?.next || undefined} />
      {!alerts.data && alerts.error && <ErrorState error={alerts.error} onRetry={() => void alerts.refetch()} />}
      {alerts.isPending && <Skeleton height={160} />}
    </>
  );
}

function Lists({ alerts }: { alerts: Alert[] }) {
  const { t } = useTranslation();
  const open = alerts.filter((one) => one.ended_at === null);
  const ended = alerts.filter((one) => one.ended_at !== null);
  if (alerts.length === 0) {
    return (
      <State icon={IconBellOff} title={t('alerts.none')}>
        <Text c="dimmed" maw={480}>
          {t('alerts.noneText')}
        </Text>
      </State>
    );
  }
  return (
    <Stack gap="lg">
      {open.length > 0 && <List title={t('alerts.open')} alerts={open} />}
      {ended.length > 0 && <List title={t('alerts.endedTitle')} alerts={ended} />}
    </Stack>
  );
}

function List({ title, alerts }: { title: string; alerts: Alert[] }) {
  return (
    <Section title={title}>
      <Stack gap="md">
        {alerts.map((one) => (
          <Line key={one.id} alert={one} />
        ))}
      </Stack>
    </Section>
  );
}

function Line({ alert }: { alert: Alert }) {
  const { t } = useTranslation();
  return (
    <Group justify="space-between" align="flex-start" gap="sm">
      <div style={{ flex: '1 1 16rem', minWidth: 0 }}>
        {alert.deleted ? (
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {alert.bucket}{' '}
            <Text span size="sm" c="dimmed">
              {t('alerts.deleted')}
            </Text>
          </Text>
        ) : (
          <Anchor component={Link} to={`/buckets/${alert.bucket}`} fw={600} style={{ overflowWrap: 'anywhere' }}>
            {alert.bucket}
          </Anchor>
        )}
        <Text size="sm">{alertRuleText(alert, t)}</Text>
        <Text size="sm" c="dimmed">
          {t('alerts.since')} <RelativeTime at={alert.since} />
          {alert.ended_at === null ? (
            <> · {alertValueText(alert, t)}</>
          ) : (
            <>
              {' '}
              · {t('alerts.ended')} <RelativeTime at={alert.ended_at} />: {t(`alerts.${alert.cause}`)}
            </>
          )}
        </Text>
      </div>
      {alert.ended_at === null && <StateBadge tone="bad">{t('alerts.open')}</StateBadge>}
    </Group>
  );
}
