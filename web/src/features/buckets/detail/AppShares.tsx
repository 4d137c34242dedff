import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { shares, type Range } from '@/components/chart/series';
import { ShareTable } from '@/components/chart/ShareTable';
import { Section } from '@/components/Section';
import { allApps } from '@/lib/definition';
import { useShownChart } from '@/features/buckets/live/chart-context';

/** How much of what was asked for came from which app. What other apps used whose names one may not see comes as one. */
export function AppShares({ range }: { range: Range }) {
  const { t } = useTranslation();
  return (
    <Section title={t('shares.title')} description={t(`shares.over.${range}`)}>
      <Shares />
    </Section>
  );
}

function Shares() {
  const { t } = useTranslation();
  const rows = useShownChart().usage.data?.items;
  const shown = useMemo(
    () =>
      rows &&
      shares(rows).map(({ app, ...sum }) => ({
        ...sum,
        name: app === allApps ? t('shares.others') : app,
        to: app === allApps ? undefined : `/apps/${app}`,
      })),
    [rows, t],
  );
  return <ShareTable header={t('field.app')} none={t('shares.none')} rows={shown} />;
}
