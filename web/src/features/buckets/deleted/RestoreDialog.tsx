import { Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { DeletedBucket } from '@/lib/api/types';
import { allApps } from '@/lib/definition';
import { errorText } from '@/components/error-text';
import { RecordDialog, type Asked } from '@/components/RecordDialog';
import { showDone, showPending } from '@/components/notify';
import { useRestoreBucket } from '@/features/buckets/api/history';
import { LimitText } from '@/components/LimitText';
import { ReasonForm } from '@/features/buckets/history/ReasonForm';

/** Brings a deleted bucket back as it was last. */
export function RestoreDialog({ of, onClose }: { of: Asked<DeletedBucket>; onClose: () => void }) {
  const { t } = useTranslation();
  const name = of.name ?? '';
  return (
    <RecordDialog of={of} onClose={onClose} title={t('deleted.restoreOf', { name })} none={t('deleted.gone', { name })}>
      {(bucket) => (bucket.may_restore ? <RestoreForm bucket={bucket} onClose={onClose} /> : <Text>{whyNot(bucket, t)}</Text>)}
    </RecordDialog>
  );
}

/** Why a deleted bucket is not restored by whoever looks at it. */
export function whyNot(bucket: DeletedBucket, t: TFunction): string {
  return t(bucket.definition ? 'deleted.denied' : 'deleted.tooOld');
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
