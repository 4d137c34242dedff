import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { shares } from '@/components/chart/series';
import { ShareTable } from '@/components/chart/ShareTable';
import { useSeesApp } from '@/lib/api/names';
import { allApps } from '@/lib/definition';
import { useShown } from '@/features/buckets/live/chart-context';

/** How much of what was asked for came from which app. What other apps used whose names one may not see comes as one. */
export function AppShares() {
  const { t } = useTranslation();
  const { range, rows: used } = useShown('used');
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
  // Rows come often, and a text is dear to look up.
  const texts = useMemo(
    () => ({ title: t('shares.title'), description: t(`shares.over.${range}`), header: t('field.app'), none: t('shares.none') }),
    [range, t],
  );
  return <ShareTable {...texts} rows={rows} />;
}
