import { Anchor, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, memo, Suspense, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Bucket, Change } from '@/lib/api/types';
import { limitKind } from '@/lib/definition';
import { formatNumber } from '@/lib/format/numbers';
import { Figure } from '@/components/chart/Figure';
import { RelativeTime } from '@/components/RelativeTime';
import { bucketKeys } from '@/features/buckets/api/keys';
import { LimitText } from '@/components/LimitText';
import { Legend } from './Legend';
import { PermitsFigure } from './PermitsFigure';
import { RangeControls } from '@/components/chart/RangeControls';
import { lineOf } from '@/components/chart/series';
import type { useChart } from './use-chart';
import type { LiveState } from './use-live';

// The chart library comes only when a chart is shown.
const LiveChart = lazy(async () => ({ default: (await import('@/components/chart/LiveChart')).LiveChart }));

/** What happens in a bucket, now and before: rates against the limit, and the permits left. */
export function LivePanel({ bucket, chart }: { bucket: Bucket; chart: ReturnType<typeof useChart> }) {
  const { t } = useTranslation();
  const { live, range } = chart;
  useFollowRevision(bucket, live.now?.redis_revision);

  return (
    <Card withBorder padding="lg" component="section" aria-labelledby="live-title">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4" id="live-title">
          {t('live.title')}
        </Title>
        <RangeControls
          range={range}
          onRange={chart.setRange}
          paused={chart.paused}
          onPause={chart.setPaused}
          zoomed={chart.zoom !== null}
          onZoom={chart.setZoom}
          onZoomBy={chart.zoomBy}
        />
      </Group>
      <Figures bucket={bucket} live={live} />
      <Suspense fallback={<div style={{ minHeight: 278 }} />}>
        <LiveChart samples={chart.samples} seconds={chart.seconds} markers={chart.markers} zoom={chart.zoom} onZoom={chart.setZoom} />
      </Suspense>
      <Legend bucket={bucket} limit={lineOf(bucket)} />
      <Changed bucket={bucket} changes={chart.changed} />
      {bucket.mode === 'off' && (
        <Text size="sm" c="dimmed">
          {t('live.off')}
        </Text>
      )}
      {live.now?.present === false && <Text size="sm">{t('live.notInstalled')}</Text>}
      {(live.failed || (range !== 'live' && chart.usage.error)) && (
        <Text size="sm" role="status">
          {t('live.failed')}
        </Text>
      )}
    </Card>
  );
}

const changesShown = 5;

/** The chart's change markers in words. */
const Changed = memo(function Changed({ bucket, changes }: { bucket: Bucket; changes: Change[] }) {
  const { t } = useTranslation();
  if (changes.length === 0) return null;
  return (
    <Text size="sm" c="dimmed" mt="xs">
      {t('live.changes')}{' '}
      {changes.slice(0, changesShown).map((change, index) => (
        <span key={change.id}>
          {index > 0 && ' · '}
          <Anchor component={Link} to={`/buckets/${bucket.name}/history`} size="sm" underline="always">
            {t('bucket.revision', { revision: change.revision })}
          </Anchor>{' '}
          {change.actor}, <RelativeTime at={change.at} />
        </span>
      ))}
      {changes.length > changesShown && ` ${t('common.more', { count: changes.length - changesShown })}`}
    </Text>
  );
});

/** Redis has a revision that the page does not show yet: ask for the bucket again. */
function useFollowRevision(bucket: Bucket, inRedis: number | undefined) {
  const queryClient = useQueryClient();
  const behind = inRedis !== undefined && inRedis !== 0 && inRedis !== bucket.revision;
  const pending = bucket.sync.state === 'pending' && inRedis === bucket.revision;
  useEffect(() => {
    if (!behind && !pending) return;
    void queryClient.invalidateQueries({ queryKey: bucketKeys.one(bucket.name) });
    void queryClient.invalidateQueries({ queryKey: bucketKeys.changes(bucket.name) });
  }, [behind, pending, inRedis, bucket.name, queryClient]);
}

function Figures({ bucket, live }: { bucket: Bucket; live: LiveState }) {
  const { t, i18n } = useTranslation();
  const last = live.samples.at(-1);
  const number = (value: number | undefined) =>
    value === undefined ? '–' : formatNumber(value, i18n.language, value < 10 ? 1 : 0);
  const limited = last && last.limited + last.shadowLimited;
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }} mb="md">
      <Figure label={t('live.granted')} unit={t('live.perSecond')} value={number(last?.granted)} testId="granted-per-second" />
      <Figure
        label={bucket.mode === 'shadow' ? t('live.wouldLimit') : t('live.limited')}
        unit={t('live.perSecond')}
        value={number(limited)}
        testId="limited-per-second"
      />
      <PermitsFigure context={limitKind(bucket.algorithm)} now={live.now} />
      <Stack gap={2}>
        <Text size="sm" c="dimmed">
          {t('field.limit')}
        </Text>
        <Text fw={600}>
          <LimitText limit={bucket} />
        </Text>
      </Stack>
    </SimpleGrid>
  );
}
