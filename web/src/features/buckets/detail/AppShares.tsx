import { memo, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { shares } from '@/components/chart/series';
import { ShareTable } from '@/components/chart/ShareTable';
import { useSeesApp } from '@/lib/api/names';
import { allApps } from '@/lib/definition';
import { useShownChart } from '@/features/buckets/live/chart-context';

const Shares = memo(ShareTable); // a sample of each second changes no share

/** How much of what was asked for came from which app. What other apps used whose names one may not see comes as one. */
export function AppShares() {
  const { t } = useTranslation();
  const { range, usage } = useShownChart();
  const used = usage.data?.items;
  const sees = useSeesApp();
  const rows = useMemo(
    () =>
      used &&
      shares(used).map(({ app, ...sum }) => ({
        ...sum,
        name: app === allApps ? t('shares.others') : app,
        to: app === allApps || !sees(app) ? undefined : `/apps/${app}`,
      })),
    [used, sees, t],
  );
  return <Shares title={t('shares.title')} description={t(`shares.over.${range}`)} header={t('field.app')} none={t('shares.none')} rows={rows} />;
}
