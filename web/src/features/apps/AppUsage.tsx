import { Group, SimpleGrid, Text, useComputedColorScheme } from '@mantine/core';
import { lazy, memo, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { formatNumber, formatPercent } from '@/lib/format/numbers';
import { palette } from '@/components/chart/chart-options';
import { Figure } from '@/components/chart/Figure';
import { LineEntry } from '@/components/chart/LineEntry';
import { RangeControls } from '@/components/chart/RangeControls';
import { asked, type Range, type Revised, type Sample, type UsageTotals } from '@/components/chart/series';
import { errorText } from '@/components/error-text';
import { Section } from '@/components/Section';
import { BucketShares } from './BucketShares';
import { useAppChart } from './use-app-chart';

// The chart library comes only when a chart is shown.
const LiveChart = lazy(async () => ({ default: (await import('@/components/chart/LiveChart')).LiveChart }));

const unrevised: Revised[] = []; // an app has no definition that could change

/** What an app asks for and gets, now and before, in all of its buckets that one may see and in each. */
export function AppUsage({ name }: { name: string }) {
  const { t } = useTranslation();
  const chart = useAppChart(name);
  const { live, usage, range } = chart;
  return (
    <>
      <Section
        title={t('appUsage.title')}
        description={t('appUsage.text')}
        actions={
          <RangeControls
            range={range}
            onRange={chart.setRange}
            paused={chart.paused}
            onPause={chart.setPaused}
            zoomed={chart.zoom !== null}
            onZoom={chart.setZoom}
            onZoomBy={chart.zoomBy}
          />
        }
      >
        <Figures now={live.failed ? null : live.last} rows={usage.data?.items} range={range} />
        <Suspense fallback={<div style={{ minHeight: 278 }} />}>
          <LiveChart samples={chart.samples} seconds={chart.seconds} revised={unrevised} zoom={chart.zoom} onZoom={chart.setZoom} />
        </Suspense>
        <Legend />
        {live.failed && (
          <Text size="sm" role="status" mt="xs">
            {t('live.failed')}
          </Text>
        )}
        {usage.error && !live.failed && (
          <Text size="sm" role="status" mt="xs">
            {errorText(usage.error, t)}
          </Text>
        )}
      </Section>
      <BucketShares usage={usage.data} now={live.failed ? null : live.now} range={range} />
    </>
  );
}

interface FiguresProps {
  /** Null where that is not known. */
  now: Sample | null;
  rows: readonly UsageTotals[] | null | undefined;
  range: Range;
}

/** The rates of the last second, and what the range comes to. */
function Figures({ now, rows, range }: FiguresProps) {
  const { t, i18n } = useTranslation();
  const rate = (value: number | undefined) => (value === undefined ? '–' : formatNumber(value, i18n.language, value < 10 ? 1 : 0));
  const all = rows?.reduce((sum, row) => sum + asked(row), 0) ?? 0;
  const limited = rows?.reduce((sum, row) => sum + row.limited + row.shadow_limited, 0) ?? 0;
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} mb="md">
      <Figure label={t('live.granted')} unit={t('live.perSecond')} value={rate(now?.granted)} testId="app-granted" />
      <Figure label={t('live.limited')} unit={t('live.perSecond')} value={rate(now?.limited)} testId="app-limited" />
      <Figure label={t('appUsage.asked')} unit={t(`appUsage.over.${range}`)} value={rows ? formatNumber(all, i18n.language) : '–'} testId="app-asked" />
      <Figure
        label={t('appUsage.refused')}
        unit={t('appUsage.ofThem')}
        value={all > 0 ? formatPercent(limited / all, i18n.language, 1) : '–'}
        testId="app-refused"
      />
    </SimpleGrid>
  );
}

const Legend = memo(function Legend() {
  const { t } = useTranslation();
  const colors = palette[useComputedColorScheme('light')];
  return (
    <Group gap="lg" mt="xs">
      <LineEntry color={colors.granted} dash="" label={t('live.granted')} />
      <LineEntry color={colors.limited} dash="2 3" label={t('live.limited')} />
    </Group>
  );
});
