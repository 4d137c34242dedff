import { TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/lib/api/me';
import { hasCode } from '@/lib/api/problem';
import type { NewWebhook } from '@/lib/api/types';
import { isName } from '@/lib/rules';
import { useOnce } from '@/lib/use-once';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { useCreateWebhook } from './api/webhooks';
import { bodyOf, noWebhook, WebhookFields, webhookRules, type WebhookValues } from './WebhookFields';
import { WebhookSecretShown } from './WebhookSecretShown';

/** Adds an endpoint and shows its secret, this once. */
export function CreateWebhookDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const [made, setMade] = useOnce<NewWebhook>(opened);

  // A click beside the dialog must not take the secret away before it was copied.
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={made ? t('webhooks.secretOf', { name: made.name }) : t('webhooks.create')}
      size="lg"
      closeOnClickOutside={!made}
      closeOnEscape={!made}
      withCloseButton={!made}
    >
      {made ? <WebhookSecretShown secret={made.secret} onDone={onClose} /> : <CreateWebhookForm onMade={setMade} onClose={onClose} />}
    </FormDialog>
  );
}

function CreateWebhookForm({ onMade, onClose }: { onMade: (made: NewWebhook) => void; onClose: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const create = useCreateWebhook();
  const { form, element, refusal, refused, onSubmit } = useSimpleForm<WebhookValues & { name: string }>({
    initialValues: { ...noWebhook, name: '' },
    validate: { ...webhookRules(t), name: (name: string) => (isName(name) ? null : t('rule.name')) },
  });
  const save = onSubmit((values) =>
    create.mutate(
      bodyOf(values),
      {
        onSuccess: onMade,
        onError: (error) => {
          if (hasCode(error, 'taken')) form.setErrors({ name: t('rule.taken') });
          else refused(error, errorText(error, t));
        },
      },
    ),
  );
  return (
    <DialogForm
      ref={element}
      onSubmit={save}
      onCancel={onClose}
      submitLabel={t('webhooks.create')}
      saving={create.isPending}
      refusal={refusal}
      curl={() => ({ method: 'POST', path: '/webhooks', body: bodyOf(form.getValues()), login: me.name })}
    >
      <TextInput
        label={t('field.name')}
        description={t('webhooks.nameHint')}
        required
        data-autofocus
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        {...form.getInputProps('name')}
      />
      <WebhookFields form={form} />
    </DialogForm>
  );
}
