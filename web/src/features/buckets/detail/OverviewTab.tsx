import { Card, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Bucket } from '@/lib/api/types';
import { allApps, isKeyed } from '@/lib/definition';
import type { Range } from '@/components/chart/series';
import { AppLink } from '@/components/AppLink';
import { RelativeTime } from '@/components/RelativeTime';
import { Written } from '@/components/Written';
import { ChartShown } from '@/features/buckets/live/chart-context';
import { LivePanel } from '@/features/buckets/live/LivePanel';
import { useChart } from '@/features/buckets/live/use-chart';
import { useFollowRevision } from '@/features/buckets/live/use-follow-revision';
import { AppShares } from './AppShares';
import { FirstCall } from './FirstCall';
import { Instances } from './Instances';
import { LimitedKeys } from './LimitedKeys';
import { OpenAlerts } from './OpenAlerts';

/** What the bucket is for, what happens in it now, and whose it is. */
export function OverviewTab({ bucket }: { bucket: Bucket }) {
  const chart = useChart(bucket);
  useFollowRevision(bucket, chart.live.now?.redis_revision);
  return (
    <ChartShown chart={chart}>
      <Content bucket={bucket} range={chart.view.range} />
    </ChartShown>
  );
}

interface ContentProps {
  bucket: Bucket;
  range: Range;
}

const Content = memo(function Content({ bucket, range }: ContentProps) {
  return (
    <>
      {bucket.description && (
        <Text mb="lg" maw="80ch" style={{ whiteSpace: 'pre-wrap' }}>
          <Written>{bucket.description}</Written>
        </Text>
      )}
      <OpenAlerts bucket={bucket.name} />
      <FirstCall bucket={bucket} />
      <Stack gap="lg">
        <LivePanel bucket={bucket} />
        <Below bucket={bucket} range={range} />
      </Stack>
    </>
  );
});

function Below({ bucket, range }: ContentProps) {
  const { t } = useTranslation();
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <AppShares />
        {isKeyed(bucket.partition) && <LimitedKeys bucket={bucket} range={range} />}
        {!isKeyed(bucket.partition) && <Instances bucket={bucket} />}
      </SimpleGrid>
      {isKeyed(bucket.partition) && <Instances bucket={bucket} />}
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Fact title={t('field.apps')}>
          {bucket.apps.length === 0 && t('value.noApps')}
          {bucket.apps.includes(allApps)
            ? t('value.allApps')
            : bucket.apps.map((app) => <AppLink key={app} app={app} />)}
        </Fact>
        <Fact title={t('field.owners')}>{bucket.owners.join(', ')}</Fact>
        <Fact title={t('bucket.lastChange')}>
          {bucket.updated_by}, <RelativeTime at={bucket.updated_at} />
        </Fact>
      </SimpleGrid>
    </>
  );
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card withBorder padding="md">
      <Title order={2} size="sm" c="dimmed" fw={500} mb={4}>
        {title}
      </Title>
      <div>{children}</div>
    </Card>
  );
}
