import { useTranslation } from 'react-i18next';
import { shares, type Range, type UsageRow } from '@/components/chart/series';
import { ShareTable } from '@/components/chart/ShareTable';
import { allApps } from '@/lib/definition';

/** How much of what was asked for came from which app. What other apps used whose names one may not see comes as one. */
export function AppShares({ rows, range }: { rows: readonly UsageRow[] | undefined; range: Range }) {
  const { t } = useTranslation();
  const found = rows && shares(rows);
  return (
    <ShareTable
      title={t('shares.title')}
      description={t(`shares.over.${range}`)}
      header={t('field.app')}
      none={t('shares.none')}
      rows={found?.map(({ app, ...sum }) => ({
        ...sum,
        name: app === allApps ? t('shares.others') : app,
        to: app === allApps ? undefined : `/apps/${app}`,
      }))}
    />
  );
}
