import { Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { hasCode } from '@/lib/api/problem';
import type { Bucket } from '@/lib/api/types';
import { errorText } from '@/components/error-text';
import { FormDialog } from '@/components/FormDialog';
import { showDone, showPending } from '@/components/notify';
import { useRollBack } from '@/features/buckets/api/history';
import { ComparisonView } from './ComparisonView';
import { ReasonForm } from './ReasonForm';

interface RollBackDialogProps {
  bucket: Bucket;
  /** The revision to go back to; undefined while the dialog is closed. */
  revision: number | undefined;
  onClose: () => void;
}

/** Shows what going back to a revision changes, and asks for the reason. */
export function RollBackDialog({ bucket, revision, onClose }: RollBackDialogProps) {
  const { t } = useTranslation();
  return (
    <FormDialog
      opened={revision !== undefined}
      onClose={onClose}
      title={t('history.rollBackTitle', { revision: revision ?? 0 })}
      size="xl"
    >
      {revision !== undefined && <RollBackForm bucket={bucket} revision={revision} onClose={onClose} />}
    </FormDialog>
  );
}

function RollBackForm({ bucket, revision, onClose }: { bucket: Bucket; revision: number; onClose: () => void }) {
  const { t } = useTranslation();
  // The decision stands on what its maker saw when the dialog opened.
  const [base] = useState(bucket.revision);
  const rollBack = useRollBack(bucket.name);
  const submit = (reason: string) =>
    rollBack.mutate(
      { base, revision, reason },
      {
        onSuccess: (saved) => {
          const pending = saved.sync.state === 'pending';
          (pending ? showPending : showDone)(t(pending ? 'saved.updatedPending' : 'saved.updated', { revision: saved.revision }), t);
          onClose();
        },
      },
    );
  return (
    <ReasonForm
      onSubmit={submit}
      onCancel={onClose}
      submitLabel={t('history.rollBack')}
      saving={rollBack.isPending}
      curl={(reason) => ({ method: 'POST', path: `/buckets/${bucket.name}/rollback`, base, body: { revision, reason } })}
      error={rollBack.error}
      message={rollBack.error && (hasCode(rollBack.error, 'stale') ? t('stale.reopen') : errorText(rollBack.error, t))}
    >
      <Text size="sm">{t('history.rollBackText')}</Text>
      <ComparisonView name={bucket.name} from={base} to={revision} />
    </ReasonForm>
  );
}
