import { Text, Textarea } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { showDone } from '@/components/notify';
import { useReconcile } from './api/system';

const longestReason = 500;

/** Has all of Redis compared with the database, and tells what was found. */
export function ReconcileDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={opened} onClose={onClose} title={t('system.reconcile')}>
      <ReconcileForm onClose={onClose} />
    </FormDialog>
  );
}

function ReconcileForm({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const reconcile = useReconcile();
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { reason: '' },
    validate: { reason: (reason) => (reason.trim() ? null : t('rule.reason')) },
  });
  const start = onSubmit(({ reason }) =>
    reconcile.mutate(reason.trim(), {
      onSuccess: ({ drifted, pending }) => {
        const found = drifted === 0 ? t('system.foundNothing') : t('system.found', { count: drifted });
        showDone(pending === 0 ? found : `${found} ${t('system.stillWaiting', { count: pending })}`, t);
        onClose();
      },
      onError: (error) => refused(error, errorText(error, t)),
    }),
  );
  return (
    <DialogForm
      ref={element}
      onSubmit={start}
      onCancel={onClose}
      submitLabel={t('system.reconcile')}
      saving={reconcile.isPending}
      refusal={refusal}
      curl={() => ({ method: 'POST', path: '/system/reconcile', body: { reason: form.getValues().reason.trim() } })}
    >
      <Text>{t('system.reconcileText')}</Text>
      <Textarea label={t('reason.label')} required maxLength={longestReason} data-autofocus {...form.getInputProps('reason')} />
      {reconcile.isPending && (
        <Text size="sm" role="status">
          {t('system.comparing')}
        </Text>
      )}
    </DialogForm>
  );
}
