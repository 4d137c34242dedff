import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { DeletedBucket } from '@/lib/api/types';
import { allApps } from '@/lib/definition';
import { errorText } from '@/components/error-text';
import { FormDialog } from '@/components/FormDialog';
import { showDone, showPending } from '@/components/notify';
import { useRestoreBucket } from '@/features/buckets/api/history';
import { LimitText } from '@/components/LimitText';
import { ReasonForm } from '@/features/buckets/history/ReasonForm';

/** Brings a deleted bucket back as it was last; undefined while the dialog is closed. */
export function RestoreDialog({ bucket, onClose }: { bucket: DeletedBucket | undefined; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog
      opened={bucket !== undefined}
      onClose={onClose}
      title={t('deleted.restoreOf', { name: bucket?.name ?? '' })}
    >
      {bucket && <RestoreForm bucket={bucket} onClose={onClose} />}
    </FormDialog>
  );
}

function RestoreForm({ bucket, onClose }: { bucket: DeletedBucket; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const restore = useRestoreBucket(bucket.name);
  const submit = (reason: string) =>
    restore.mutate(
      { reason },
      {
        onSuccess: ({ name, sync }) => {
          if (sync.state === 'pending') showPending(t('deleted.restoredPending', { name }), t);
          else showDone(t('deleted.restored', { name }), t);
          void navigate(`/buckets/${name}`);
        },
      },
    );
  return (
    <ReasonForm
      onSubmit={submit}
      onCancel={onClose}
      submitLabel={t('deleted.restore')}
      saving={restore.isPending}
      curl={(reason) => ({ method: 'POST', path: `/buckets/${bucket.name}/restore`, body: { reason } })}
      error={restore.error}
      message={restore.error && errorText(restore.error, t)}
    >
      <Text size="sm">{t('deleted.restoreText')}</Text>
      {bucket.definition && (
        <>
          <Text>
            <LimitText limit={bucket.definition} />
          </Text>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {t('danger.apps', { apps: bucket.definition.apps.includes(allApps) ? t('value.allApps') : bucket.definition.apps.join(', ') || t('common.none') })}
          </Text>
        </>
      )}
    </ReasonForm>
  );
}
