import { Alert, Anchor, Stack, Text } from '@mantine/core';
import { IconBell } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useAlerts } from '@/lib/api/alerts';
import { alertRuleText, alertValueText } from '@/components/alert-text';
import { RelativeTime } from '@/components/RelativeTime';

/** Marks a bucket that has open alerts. */
export function OpenAlerts({ bucket }: { bucket: string }) {
  const { t } = useTranslation();
  const alerts = useAlerts({ bucket, open: true }).data?.items ?? [];
  return (
    <div role="status" aria-live="polite">
      {alerts.length > 0 && (
        <Alert
          color="red"
          mb="lg"
          icon={<IconBell aria-hidden />}
          title={t('alerts.openOnes')}
          styles={{ title: { color: 'var(--mantine-color-error)' } }}
        >
          <Stack gap={4}>
            {alerts.map((one) => (
              <Text key={one.id} size="sm">
                {alertRuleText(one, t)} · {t('alerts.since')} <RelativeTime at={one.since} /> · {alertValueText(one, t)}
              </Text>
            ))}
            <Anchor component={Link} to={`/buckets/${bucket}/settings`} size="sm" underline="always">
              {t('alerts.rules')}
            </Anchor>
          </Stack>
        </Alert>
      )}
    </div>
  );
}
