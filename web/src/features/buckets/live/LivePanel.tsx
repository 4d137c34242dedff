import { Button, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { limitKind } from '@/lib/definition';
import { ratePerSecond } from '@/lib/format/limit';
import { formatNumber } from '@/lib/format/numbers';
import { bucketKeys } from '@/features/buckets/api/keys';
import { LimitText } from '@/features/buckets/LimitText';
import { Legend } from './Legend';
import { PermitsFigure } from './PermitsFigure';
import { useLive, type LiveState } from './use-live';

// The chart library comes only when a chart is shown.
const LiveChart = lazy(async () => ({ default: (await import('./LiveChart')).LiveChart }));

/** What happens in a bucket now: rates second by second against the limit, and the permits left. */
export function LivePanel({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const [paused, setPaused] = useState(false);
  // With several partitions each has the limit for itself; a line beside their sum would mislead.
  const limit = bucket.partition === 'shared' && bucket.mode !== 'off' ? ratePerSecond(bucket) : null;
  const live = useLive(bucket.name, limit, paused);
  useFollowRevision(bucket, live.now?.revision);

  return (
    <Card withBorder padding="lg" component="section" aria-labelledby="live-title">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4" id="live-title">
          {t('live.title')}
        </Title>
        <Button
          size="xs"
          variant="default"
          leftSection={paused ? <IconPlayerPlay size={14} aria-hidden /> : <IconPlayerPause size={14} aria-hidden />}
          onClick={() => setPaused((before) => !before)}
        >
          {paused ? t('live.resume') : t('live.pause')}
        </Button>
      </Group>
      <Figures bucket={bucket} live={live} />
      <Suspense fallback={<div style={{ minHeight: 260 }} />}>
        <LiveChart samples={live.samples} />
      </Suspense>
      <Legend bucket={bucket} limit={limit} />
      {bucket.mode === 'off' && (
        <Text size="sm" c="dimmed">
          {t('live.off')}
        </Text>
      )}
      {live.now?.present === false && <Text size="sm">{t('live.notInstalled')}</Text>}
      {live.failed && (
        <Text size="sm" role="status">
          {t('live.failed')}
        </Text>
      )}
    </Card>
  );
}

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

interface FigureProps {
  label: string;
  unit: string;
  value: string;
  testId: string;
}

function Figure({ label, unit, value, testId }: FigureProps) {
  return (
    <Stack gap={2}>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text>
        <Text span fw={700} size="xl" data-testid={testId} style={{ fontVariantNumeric: 'tabular-nums' }}>
          {value}
        </Text>{' '}
        <Text span size="sm" c="dimmed">
          {unit}
        </Text>
      </Text>
    </Stack>
  );
}
