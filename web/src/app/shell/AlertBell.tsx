import { ActionIcon, Indicator } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useAlerts } from '@/lib/api/alerts';

/** Leads to the alerts and counts those that are open in one's own buckets. */
export function AlertBell() {
  const { t } = useTranslation();
  const { data } = useAlerts({ mine: true, open: true });
  const count = data?.items.length ?? 0;
  const label = t('alerts.bell', { count });
  return (
    <Indicator label={data?.next ? `${count}+` : count} disabled={count === 0} color="red.8" size={16} offset={6} aria-hidden={false}>
      <ActionIcon component={Link} to="/alerts" variant="subtle" color="gray" size="lg" aria-label={label} title={label}>
        <IconBell size={20} aria-hidden />
      </ActionIcon>
    </Indicator>
  );
}
