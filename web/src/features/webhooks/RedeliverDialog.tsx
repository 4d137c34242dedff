import { NumberInput, Text, Textarea } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/lib/api/me';
import type { Webhook } from '@/lib/api/types';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { showDone } from '@/components/notify';
import { useRedeliver } from './api/webhooks';

/** Tells an endpoint again from a change on, or skips up to one. */
export function RedeliverDialog({ webhook, opened, onClose }: { webhook: Webhook; opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={opened} onClose={onClose} title={t('webhooks.redeliver')}>
      <RedeliverForm webhook={webhook} onClose={onClose} />
    </FormDialog>
  );
}

function RedeliverForm({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const redeliver = useRedeliver(webhook.name);
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { from: (webhook.state.cursor + 1) as number | string, reason: '' },
    validate: { from: (from: number | string) => (Number.isSafeInteger(from) && Number(from) > 0 ? null : t('webhooks.fromRule')) },
  });
  const save = onSubmit(({ from, reason }) =>
    redeliver.mutate(
      { from: Number(from), reason: reason.trim() },
      {
        onSuccess: () => {
          showDone(t('webhooks.redelivers', { from }), t);
          onClose();
        },
        onError: (error) => refused(error, errorText(error, t)),
      },
    ),
  );
  return (
    <DialogForm
      ref={element}
      onSubmit={save}
      onCancel={onClose}
      submitLabel={t('webhooks.redeliver')}
      saving={redeliver.isPending}
      refusal={refusal}
      curl={() => {
        const { from, reason } = form.getValues();
        const path = `/webhooks/${encodeURIComponent(webhook.name)}/redeliver`;
        return { method: 'POST', path, body: { from: Number(from), reason: reason.trim() }, login: me.name };
      }}
    >
      <Text size="sm">{t('webhooks.redeliverText')}</Text>
      <NumberInput
        label={t('webhooks.from')}
        description={t('webhooks.fromHint', { cursor: webhook.state.cursor })}
        required
        hideControls
        allowDecimal={false}
        allowNegative={false}
        data-autofocus
        {...form.getInputProps('from')}
      />
      <Textarea label={t('webhooks.reason')} maxLength={500} {...form.getInputProps('reason')} />
    </DialogForm>
  );
}
