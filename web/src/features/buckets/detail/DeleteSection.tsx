import { Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { Bucket } from '@/lib/api/types';
import { hasCode } from '@/lib/api/problem';
import { deletion } from '@/lib/curl';
import { useUrlDialog } from '@/lib/url-dialog';
import { ActionButton } from '@/components/ActionButton';
import { DeleteByName } from '@/components/DeleteByName';
import { errorText } from '@/components/error-text';
import { showDone } from '@/components/notify';
import { Affected } from './Affected';
import { DangerRow } from './DangerZone';
import { useDeleteBucket } from '@/features/buckets/api/delete';

/** Deletes the bucket, by typing its name. */
export function DeleteSection({ bucket }: { bucket: Bucket }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [opened, { open, close }] = useUrlDialog('delete');
  const remove = useDeleteBucket(bucket.name);
  const [base, setBase] = useState(bucket.revision); // the decision stands on what its maker saw when the dialog opened

  function submit(reason: string) {
    remove.mutate(
      { base, reason },
      {
        onSuccess: () => {
          showDone(t('saved.deleted', { name: bucket.name }), t);
          void navigate('/buckets');
        },
      },
    );
  }

  const denied = bucket.may.delete ? undefined : t('denied.delete', { owners: bucket.owners.join(', ') });
  const error = remove.error && (hasCode(remove.error, 'stale') ? t('delete.stale') : errorText(remove.error, t));
  return (
    <DangerRow
      title={t('danger.delete')}
      description={
        <>
          {t('danger.deleteText')} {denied}
        </>
      }
    >
      <ActionButton
        color="red.8"
        leftSection={<IconTrash size={16} aria-hidden />}
        onClick={() => {
          setBase(bucket.revision);
          remove.reset();
          open();
        }}
        denied={denied}
      >
        {t('danger.delete')}
      </ActionButton>
      <DeleteByName
        opened={opened && bucket.may.delete}
        onClose={close}
        name={bucket.name}
        title={t('danger.delete')}
        withReason
        onDelete={submit}
        deleting={remove.isPending}
        error={error ?? undefined}
        curl={(reason) => deletion(`/buckets/${bucket.name}`, reason, { base })}
      >
        <Text>{t('danger.deleteText')}</Text>
        <Text size="sm">{t('danger.restorable')}</Text>
        {opened && <Affected bucket={bucket} />}
      </DeleteByName>
    </DangerRow>
  );
}
