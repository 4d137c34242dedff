import { Button, Card, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconArrowBackUp } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Bucket, Change } from '@/lib/api/types';
import { useUrlDialogOf } from '@/lib/url-dialog';
import { ActionButton } from '@/components/ActionButton';
import { actionText } from '@/components/action-text';
import { ChangeDiff } from '@/components/ChangeDiff';
import { reasonText } from '@/components/reason-text';
import { RelativeTime } from '@/components/RelativeTime';
import { ErrorState } from '@/components/States';
import { useBucketChanges } from '@/features/buckets/api/changes';
import { CompareCard } from '@/features/buckets/history/CompareCard';
import { RollBackDialog } from '@/features/buckets/history/RollBackDialog';

/** The bucket's revisions: who, when, why, and what exactly; any two compared, and any one brought back. */
export function HistoryTab({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const changes = useBucketChanges(bucket.name);
  const [chosen, rollBack] = useUrlDialogOf('roll-back');
  if (changes.isPending) {
    return (
      <Stack role="status" aria-label={t('common.loading')}>
        <Skeleton height={120} />
        <Skeleton height={120} />
      </Stack>
    );
  }
  if (changes.error && !changes.data) return <ErrorState error={changes.error} onRetry={() => void changes.refetch()} />;
  const rows = changes.data?.pages.flatMap((page) => page.items ?? []) ?? [];
  // A tried acquire is a row without a revision.
  const previous = rows.find(({ revision }) => revision > 0 && revision < bucket.revision)?.revision;
  return (
    <>
      {previous !== undefined && <CompareCard name={bucket.name} newest={bucket.revision} previous={previous} />}
      <Stack component="ol" gap="md" p={0} m={0} style={{ listStyle: 'none' }} aria-label={t('tab.history')}>
        {rows.map((change) => (
          <li key={change.id}>
            <Entry change={change} bucket={bucket} onRollBack={(revision) => rollBack.open(String(revision))} />
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
      <RollBackDialog bucket={bucket} revision={(bucket.may.edit && Number(chosen)) || undefined} onClose={rollBack.close} />
    </>
  );
}

interface EntryProps {
  change: Change;
  bucket: Bucket;
  onRollBack: (revision: number) => void;
}

function Entry({ change, bucket, onRollBack }: EntryProps) {
  const { t } = useTranslation();
  return (
    <Card withBorder padding="md" component="article">
      <Group justify="space-between" gap="xs" mb={4}>
        <Title order={2} size="h5">
          {change.revision > 0 && `${t('bucket.revision', { revision: change.revision })} · `}
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
          <bdi>{reasonText(change, t)}</bdi>
        </Text>
      )}
      <ChangeDiff change={change} />
      {change.after !== null && change.revision > 0 && change.revision < bucket.revision && (
        <Group mt="sm">
          <ActionButton
            variant="default"
            size="xs"
            leftSection={<IconArrowBackUp size={14} aria-hidden />}
            onClick={() => onRollBack(change.revision)}
            denied={bucket.may.edit ? undefined : t('denied.edit', { owners: bucket.owners.join(', ') })}
          >
            {t('history.rollBackTo', { revision: change.revision })}
          </ActionButton>
        </Group>
      )}
    </Card>
  );
}
