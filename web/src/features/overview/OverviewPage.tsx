import { Button, Group, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { IconBucketDroplet } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useMe } from '@/lib/api/me';
import { PageHeader } from '@/components/PageHeader';
import { ErrorState, State } from '@/components/States';
import { useOverview } from './api/overview';
import { BucketRank } from './BucketRank';
import { Figures } from './Figures';
import { RecentChanges } from './RecentChanges';

/** The first look: what is limited now, what is near its limit, and what changed. One's own come first. */
export function OverviewPage() {
  const { t } = useTranslation();
  const me = useMe();
  const overview = useOverview();
  const data = overview.data;
  return (
    <>
      <PageHeader title={t('overview.title')} description={t('overview.hello', { name: me.display_name || me.name })} />
      {overview.error && !data ? (
        <ErrorState error={overview.error} onRetry={() => void overview.refetch()} />
      ) : !data ? (
        <Waiting />
      ) : data.sync.buckets === 0 ? (
        <State
          icon={IconBucketDroplet}
          title={t('buckets.emptyTitle')}
          actions={
            <Button component={Link} to="/buckets">
              {t('overview.start')}
            </Button>
          }
        >
          <Text c="dimmed" maw={560}>
            {t('buckets.emptyText')}
          </Text>
        </State>
      ) : (
        <Stack gap="lg">
          <Figures sync={data.sync} limited={data.most_limited} known={data.redis_time_us > 0} user={me.name} />
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
            <BucketRank kind="limited" buckets={data.most_limited} known={data.redis_time_us > 0} />
            <BucketRank kind="near" buckets={data.near_limit} known={data.redis_time_us > 0} />
          </SimpleGrid>
          <RecentChanges changes={data.changes} />
        </Stack>
      )}
    </>
  );
}

function Waiting() {
  const { t } = useTranslation();
  return (
    <Stack role="status" aria-label={t('common.loading')} gap="lg">
      <Group grow>
        <Skeleton height={84} />
        <Skeleton height={84} />
        <Skeleton height={84} />
      </Group>
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
        <Skeleton height={260} />
        <Skeleton height={260} />
      </SimpleGrid>
      <Skeleton height={320} />
    </Stack>
  );
}
