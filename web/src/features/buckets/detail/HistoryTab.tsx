import { Button, Card, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Bucket, Change } from '@/lib/api/types';
import { actionText } from '@/components/action-text';
import { ChangeDiff } from '@/components/ChangeDiff';
import { reasonText } from '@/components/reason-text';
import { RelativeTime } from '@/components/RelativeTime';
import { ErrorState } from '@/components/States';
import { useBucketChanges } from '@/features/buckets/api/changes';

/** The bucket's revisions: who, when, why, and what exactly. */
export function HistoryTab({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const changes = useBucketChanges(bucket.name);
  if (changes.isPending) {
    return (
      <Stack role="status" aria-label={t('common.loading')}>
        <Skeleton height={120} />
        <Skeleton height={120} />
      </Stack>
    );
  }
  if (changes.error && !changes.data) return <ErrorState error={changes.error} onRetry={() => void changes.refetch()} />;
  return (
    <Stack component="ol" gap="md" p={0} m={0} style={{ listStyle: 'none' }} aria-label={t('tab.history')}>
      {changes.data?.pages
        .flatMap((page) => page.items ?? [])
        .map((change) => (
          <li key={change.id}>
            <Entry change={change} />
          </li>
        ))}
      {changes.hasNextPage && (
        <li>
          <Button variant="default" loading={changes.isFetchingNextPage} onClick={() => void changes.fetchNextPage()}>
            {t('history.older')}
          </Button>
        </li>
      )}
    </Stack>
  );
}

function Entry({ change }: { change: Change }) {
  const { t } = useTranslation();
  return (
    <Card withBorder padding="md" component="article">
      <Group justify="space-between" gap="xs" mb={4}>
        <Title order={2} size="h5">
          {t('bucket.revision', { revision: change.revision })} ·{' '}
          {actionText(change.action, t)}
        </Title>
        <Text size="sm" c="dimmed">
          <Text span fw={600} c="var(--mantine-color-text)">
            {change.actor}
          </Text>
          , <RelativeTime at={change.at} />
        </Text>
      </Group>
      {change.reason && (
        <Text mb="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {reasonText(change, t)}
        </Text>
      )}
      <ChangeDiff change={change} />
    </Card>
  );
}
