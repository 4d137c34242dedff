import { Group, SegmentedControl, SimpleGrid, Text, useComputedColorScheme } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { formatNumber } from '@/lib/format/numbers';
import { useUrlSet } from '@/lib/url-state';
import { palette } from '@/components/chart/chart-options';
import { Figure } from '@/components/chart/Figure';
import { LineEntry } from '@/components/chart/LineEntry';
import { asked, toSamples, type Sample, type UsageTotals } from '@/components/chart/series';
import { errorText } from '@/components/error-text';
import { Section } from '@/components/Section';
import { useAppUsage } from './api/usage';
import { appRanges, rangeSeconds, type AppRange } from './range';

// The chart library comes only when a chart is shown.
const LiveChart = lazy(async () => ({ default: (await import('@/components/chart/LiveChart')).LiveChart }));

const noLimit = () => null; // an app's buckets have limits of their own
const ignored = () => undefined;

/** What an app asks for and gets, summed over its buckets that one may see. */
export function AppUsage({ name }: { name: string }) {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const set = useUrlSet();
  const range = appRanges.find((one) => one === params.get('range')) ?? '1h';
  const seconds = rangeSeconds[range];
  const usage = useAppUsage(name, range);
  const samples = useMemo((): Sample[] => {
    if (!usage.data) return [];
    const now = (usage.data.redis_time_us || usage.dataUpdatedAt * 1000) / 1_000_000;
    return toSamples(usage.data.items ?? [], usage.data.step_minutes, now, seconds, noLimit);
  }, [seconds, usage.data, usage.dataUpdatedAt]);
  return (
    <Section
      title={t('appUsage.title')}
      description={t('appUsage.text')}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t('live.range')}
          value={range}
          onChange={(next) => set({ range: next === '1h' ? '' : next })}
          data={appRanges.map((value) => ({ value, label: t(`appUsage.range.${value}`) }))}
        />
      }
    >
      <Figures samples={samples} rows={usage.data?.items} range={range} />
      <Suspense fallback={<div style={{ minHeight: 278 }} />}>
        <LiveChart samples={samples} seconds={seconds} markers={[]} zoom={null} onZoom={ignored} />
      </Suspense>
      <Legend />
      {usage.error && (
        <Text size="sm" role="status" mt="xs">
          {errorText(usage.error, t)}
        </Text>
      )}
    </Section>
  );
}

interface FiguresProps {
  samples: readonly Sample[];
  rows: readonly UsageTotals[] | undefined;
  range: AppRange;
}

/** The rates of the last step that is over, and what the range comes to. */
function Figures({ samples, rows, range }: FiguresProps) {
  const { t, i18n } = useTranslation();
  const last = samples.at(-2);
  const rate = (value: number | undefined) => (value === undefined ? '–' : formatNumber(value, i18n.language, value < 10 ? 1 : 0));
  const all = rows?.reduce((sum, row) => sum + asked(row), 0) ?? 0;
  const limited = rows?.reduce((sum, row) => sum + row.limited + row.shadow_limited, 0) ?? 0;
  const share = new Intl.NumberFormat(i18n.language, { style: 'percent', maximumFractionDigits: 1 });
  const step = t(range === '90d' ? 'appUsage.lastHour' : 'appUsage.lastMinute');
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} mb="md">
      <Figure label={t('live.granted')} unit={step} value={rate(last?.granted)} testId="app-granted" />
      <Figure label={t('live.limited')} unit={step} value={rate(last && last.limited + last.shadowLimited)} testId="app-limited" />
      <Figure label={t('appUsage.asked')} unit={t('appUsage.permits')} value={rows ? formatNumber(all, i18n.language) : '–'} testId="app-asked" />
      <Figure label={t('appUsage.refused')} unit={t('appUsage.ofThem')} value={all > 0 ? share.format(limited / all) : '–'} testId="app-refused" />
    </SimpleGrid>
  );
}

function Legend() {
  const { t } = useTranslation();
  const colors = palette[useComputedColorScheme('light')];
  return (
    <Group gap="lg" mt="xs">
      <LineEntry color={colors.granted} dash="" label={t('live.granted')} />
      <LineEntry color={colors.limited} dash="2 3" label={t('live.limited')} />
    </Group>
  );
}
