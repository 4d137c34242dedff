import { useTranslation } from 'react-i18next';
import { useMe } from '@/lib/api/me';
import type { Webhook } from '@/lib/api/types';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { OvertakenNotice } from '@/components/OvertakenNotice';
import { showDone } from '@/components/notify';
import { inputOf, useUpdateWebhook } from './api/webhooks';
import { bodyOf, WebhookFields, webhookRules, type WebhookValues } from './WebhookFields';

/** Changes an endpoint. */
export function EditWebhookDialog({ webhook, opened, onClose }: { webhook: Webhook; opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={opened} onClose={onClose} title={t('webhooks.editOf', { name: webhook.name })} size="lg">
      <EditWebhookForm webhook={webhook} onClose={onClose} />
    </FormDialog>
  );
}

function EditWebhookForm({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const update = useUpdateWebhook(webhook.name);
  const { form, element, refusal, refused, onSubmit, base = webhook.revision, overtaken } = useSimpleForm<WebhookValues>(
    { initialValues: { ...inputOf(webhook), reason: '' }, validate: webhookRules(t) },
    webhook.revision,
  );
  const save = onSubmit((values) =>
    update.mutate(
      { base, body: bodyOf(values) },
      {
        onSuccess: () => {
          showDone(t('webhooks.saved', { name: webhook.name }), t);
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
      submitLabel={t('common.save')}
      saving={update.isPending}
      refusal={refusal}
      curl={() => ({
        method: 'PUT',
        path: `/webhooks/${encodeURIComponent(webhook.name)}`,
        base,
        body: bodyOf(form.getValues()),
        login: me.name,
      })}
    >
      {overtaken && (
        <OvertakenNotice
          overtaken={overtaken}
          fields={{
            url: t('webhooks.url'),
            actions: t('webhooks.tells'),
            target_kind: t('field.target_kind'),
            target: t('webhooks.target'),
            description: t('field.description'),
            checkpoints: t('webhooks.checkpoints'),
            enabled: t('webhooks.enabled'),
          }}
        />
      )}
      <WebhookFields form={form} />
    </DialogForm>
  );
}
