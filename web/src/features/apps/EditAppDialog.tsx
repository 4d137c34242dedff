import { Textarea } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { App } from '@/lib/api/types';
import { characters, descriptionBound } from '@/lib/rules';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { OvertakenNotice } from '@/components/OvertakenNotice';
import { showDone } from '@/components/notify';
import { useUpdateApp } from './api/one';

/** Changes an app's description. */
export function EditAppDialog({ app, opened, onClose }: { app: App; opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={opened} onClose={onClose} title={t('apps.edit')}>
      <EditAppForm app={app} onClose={onClose} />
    </FormDialog>
  );
}

function EditAppForm({ app, onClose }: { app: App; onClose: () => void }) {
  const { t } = useTranslation();
  const update = useUpdateApp(app.name);
  const { form, element, refusal, refused, onSubmit, base = app.revision, overtaken } = useSimpleForm({
    initialValues: { description: app.description },
    validate: {
      description: (text) => (characters(text) <= descriptionBound ? null : t('rule.text', { max: descriptionBound })),
    },
  }, app.revision);
  const save = onSubmit(({ description }) =>
    update.mutate(
      { base, description: description.trim() },
      {
        onSuccess: () => {
          showDone(t('apps.saved'), t);
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
      curl={() => ({ method: 'PUT', path: `/apps/${app.name}`, base, body: { description: form.getValues().description.trim() } })}
    >
      {overtaken && <OvertakenNotice overtaken={overtaken} fields={{ description: t('field.description') }} />}
      <Textarea
        label={t('field.description')}
        autosize
        minRows={3}
        data-autofocus
        {...form.getInputProps('description')}
      />
    </DialogForm>
  );
}
