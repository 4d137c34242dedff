import { Modal } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { hasCode } from '@/lib/api/problem';
import type { Webhook } from '@/lib/api/types';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm } from '@/components/FormDialog';
import { showDone } from '@/components/notify';
import { inputOf, useUpdateWebhook } from './api/webhooks';
import { WebhookFields, webhookRules, type WebhookValues } from './WebhookFields';

/** Changes an endpoint. */
export function EditWebhookDialog({ webhook, opened, onClose }: { webhook: Webhook; opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('webhooks.editOf', { name: webhook.name })}
      size="lg"
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <EditWebhookForm webhook={webhook} onClose={onClose} />
    </Modal>
  );
}

function EditWebhookForm({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { t } = useTranslation();
  // The edit stands on what its maker saw when the dialog opened.
  const [base] = useState(webhook.revision);
  const update = useUpdateWebhook(webhook.name);
  const { form, element, refusal, refused, onSubmit } = useSimpleForm<WebhookValues>({
    initialValues: { ...inputOf(webhook), reason: '' },
    validate: webhookRules(t),
  });
  const save = onSubmit((values) =>
    update.mutate(
      { base, body: { ...values, url: values.url.trim(), target: values.target.trim(), reason: values.reason.trim() } },
      {
        onSuccess: () => {
          showDone(t('webhooks.saved', { name: webhook.name }), t);
          onClose();
        },
        onError: (error) => refused(error, hasCode(error, 'stale') ? t('stale.reopen') : errorText(error, t)),
      },
    ),
  );
  return (
    <DialogForm
      ref={element}
      onSubmit={save}
      onCancel={onClose}
      submitLabel={t('common.save')}
      saving={update.isPending}
      refusal={refusal}
    >
      <WebhookFields form={form} />
    </DialogForm>
  );
}
