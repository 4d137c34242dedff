import { Anchor, Card, Group, Text, Title } from '@mantine/core';
import { lazy, memo, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import type { Bucket, Change } from '@/lib/api/types';
import { useCovered } from '@/lib/api/break-glass';
import { RangeControls } from '@/components/chart/RangeControls';
import { lineOf } from '@/components/chart/series';
import { RelativeTime } from '@/components/RelativeTime';
import { useShown } from './chart-context';
import { Figures } from './Figures';
import { Legend } from './Legend';

// The chart library comes only when a chart is shown.
const LiveChart = lazy(async () => ({ default: (await import('@/components/chart/LiveChart')).LiveChart }));

/** What happens in a bucket, now and before: rates against the limit, and the permits left. */
export function LivePanel({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const covered = useCovered(bucket.apps);
  const passing = bucket.mode === 'shadow' || (bucket.mode === 'enforce' && covered);
  return (
    <Card withBorder padding="lg" component="section" aria-labelledby="live-title">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4" id="live-title">
          {t('live.title')}
        </Title>
        <Controls />
      </Group>
      <Figures bucket={bucket} passing={passing} />
      <Suspense fallback={<div style={{ minHeight: 278 }} />}>
        <ShownChart />
      </Suspense>
      <Legend bucket={bucket} limit={lineOf(bucket)} passing={passing} />
      <ShownChanges bucket={bucket} />
      {bucket.mode === 'off' && (
        <Text size="sm" c="dimmed">
          {t('live.off')}
        </Text>
      )}
      <Troubles />
    </Card>
  );
}

function Controls() {
  const chart = useShown('view');
  return (
    <RangeControls
      range={chart.range}
      onRange={chart.setRange}
      paused={chart.paused}
      onPause={chart.setPaused}
      zoomed={chart.zoom !== null}
      onZoom={chart.setZoom}
      onZoomBy={chart.zoomBy}
    />
  );
}

function ShownChart() {
  const { seconds, zoom, setZoom } = useShown('view');
  const { samples, revised } = useShown('drawn');
  return <LiveChart samples={samples} seconds={seconds} revised={revised} zoom={zoom} onZoom={setZoom} />;
}

/** What keeps the figures away. */
function Troubles() {
  const { now, failed } = useShown('live');
  const { range, error } = useShown('used');
  return <TroubleText missing={now?.present === false} failed={failed || (range !== 'live' && error !== null)} />;
}

const TroubleText = memo(function TroubleText({ missing, failed }: { missing: boolean; failed: boolean }) {
  const { t } = useTranslation();
  return (
    <>
      {missing && <Text size="sm">{t('live.notInstalled')}</Text>}
      {failed && (
        <Text size="sm" role="status">
          {t('live.failed')}
        </Text>
      )}
    </>
  );
});

function ShownChanges({ bucket }: { bucket: Bucket }) {
  return <Changed bucket={bucket} changes={useShown('changed')} />;
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
