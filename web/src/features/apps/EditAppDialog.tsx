import { Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { hasCode } from '@/lib/api/problem';
import type { App } from '@/lib/api/types';
import { characters, descriptionBound } from '@/lib/rules';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
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
  // The edit stands on what its maker saw when the dialog opened.
  const [base] = useState(app.revision);
  const update = useUpdateApp(app.name);
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { description: app.description },
    validate: {
      description: (text) => (characters(text) <= descriptionBound ? null : t('rule.text', { max: descriptionBound })),
    },
  });
  const save = onSubmit(({ description }) =>
    update.mutate(
      { base, description: description.trim() },
      {
        onSuccess: () => {
          showDone(t('apps.saved'), t);
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
