import { ActionIcon, Indicator } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useAlerts } from '@/lib/api/alerts';

/** Leads to the alerts and counts those that are open in one's own buckets. */
export function AlertBell() {
  const { data } = useAlerts({ mine: true, open: true });
  return <Bell count={data?.items.length ?? 0} more={Boolean(data?.next)} />;
}

/** The bell of so many open alerts, or of more than these. */
export function Bell({ count, more }: { count: number; more: boolean }) {
  const { t } = useTranslation();
  const shown = more ? `${count}+` : String(count);
  const label = t('alerts.bell', { count, shown });
  return (
    <Indicator label={shown} disabled={count === 0} color="red.8" size={16} offset={6} aria-hidden={false}>
      <ActionIcon component={Link} to="/alerts" variant="subtle" color="gray" size="lg" aria-label={label} title={label}>
        <IconBell size={20} aria-hidden />
      </ActionIcon>
    </Indicator>
  );
}
