import { Card, Group, List, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { Bucket } from '@/lib/api/types';
import { hasCode } from '@/lib/api/problem';
import { allApps } from '@/lib/definition';
import { formatNumber } from '@/lib/format/numbers';
import { ActionButton } from '@/components/ActionButton';
import { DeleteByName } from '@/components/DeleteByName';
import { errorText } from '@/components/error-text';
import { showDone } from '@/components/notify';
import { useDeleteBucket } from '@/features/buckets/api/delete';
import { useLive } from '@/features/buckets/live/use-live';

/** What can't be undone: deleting the bucket. Shows first who uses it now. */
export function DangerTab({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [opened, { open, close }] = useDisclosure();
  const remove = useDeleteBucket(bucket.name);

  function submit(reason: string) {
    remove.mutate(
      { base: bucket.revision, reason },
      {
        onSuccess: () => {
          showDone(t('saved.deleted', { name: bucket.name }), t);
          void navigate('/buckets');
        },
      },
    );
  }

  const error = remove.error && (hasCode(remove.error, 'stale') ? t('delete.stale') : errorText(remove.error, t));
  return (
    <Card withBorder padding="lg" component="section" aria-labelledby="danger-title">
      <Title order={2} size="h4" id="danger-title" mb="xs">
        {t('danger.delete')}
      </Title>
      <Text mb="sm">{t('danger.deleteText')}</Text>
      <Traffic bucket={bucket} />
      <Group mt="md">
        <ActionButton
          color="red.8"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={open}
          denied={bucket.may.delete ? undefined : t('denied.delete', { owners: bucket.owners.join(', ') })}
        >
          {t('danger.delete')}
        </ActionButton>
      </Group>
      {!bucket.may.delete && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('denied.delete', { owners: bucket.owners.join(', ') })}
        </Text>
      )}
      <DeleteByName
        opened={opened}
        onClose={close}
        name={bucket.name}
        title={t('danger.delete')}
        withReason
        onDelete={submit}
        deleting={remove.isPending}
        error={error ?? undefined}
      >
        <Text>{t('danger.deleteText')}</Text>
      </DeleteByName>
    </Card>
  );
}

function Traffic({ bucket }: { bucket: Bucket }) {
  const { t, i18n } = useTranslation();
  const live = useLive(bucket.name, null, false);
  const last = live.samples.at(-1);
  const apps = bucket.apps.includes(allApps) ? t('value.allApps') : bucket.apps.join(', ') || t('common.none');
  const rate = last ? formatNumber(last.granted + last.limited, i18n.language, 1) : '–';
  return (
    <List size="sm" spacing={4}>
      <List.Item>{t('danger.traffic', { rate })}</List.Item>
      <List.Item>{t('danger.apps', { apps })}</List.Item>
    </List>
  );
}
