import { List } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { allApps } from '@/lib/definition';
import { formatNumber } from '@/lib/format/numbers';
import { useInstances } from '@/features/buckets/api/usage';
import { useLive } from '@/features/buckets/live/use-live';

/** Whom a drastic action would hit now: the traffic of this second, the apps, the running instances. */
export function Affected({ bucket }: { bucket: Bucket }) {
  const { t, i18n } = useTranslation();
  const live = useLive(bucket.name, null, false);
  const instances = useInstances(bucket.name);
  const { last } = live;
  const apps = bucket.apps.includes(allApps) ? t('value.allApps') : bucket.apps.join(', ') || t('common.none');
  const rate = last ? formatNumber(last.granted + last.limited, i18n.language, 1) : '–';
  // Its line stands there from the start, so that the buttons below do not move under the pointer.
  const running = instances.data ? formatNumber(instances.data.items?.length ?? 0, i18n.language) : '–';
  return (
    <List size="sm" spacing={4} data-testid="affected">
      <List.Item>{t('danger.traffic', { rate })}</List.Item>
      <List.Item>{t('danger.apps', { apps })}</List.Item>
      <List.Item>{t('danger.instances', { running })}</List.Item>
    </List>
  );
}
