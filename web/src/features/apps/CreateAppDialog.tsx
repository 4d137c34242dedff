import { TextInput, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useMe } from '@/lib/api/me';
import { useUserNames } from '@/lib/api/names';
import { hasCode } from '@/lib/api/problem';
import { characters, descriptionBound, isName } from '@/lib/rules';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { NamesPicker } from '@/components/NamesPicker';
import { showDone } from '@/components/notify';
import { useCreateApp } from './api/one';

/** Registers an app. */
export function CreateAppDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={opened} onClose={onClose} title={t('apps.create')}>
      <CreateAppForm onClose={onClose} />
    </FormDialog>
  );
}

function CreateAppForm({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const me = useMe();
  const [search, setSearch] = useState('');
  const users = useUserNames(search);
  const create = useCreateApp();
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { name: '', description: '', owners: [me.name] },
    validate: {
      name: (name) => (isName(name) ? null : t('rule.name')),
      description: (text) => (characters(text) <= descriptionBound ? null : t('rule.text', { max: descriptionBound })),
    },
  });
  const save = onSubmit((values) =>
    create.mutate(
      bodyOf(values),
      {
        onSuccess: (app) => {
          showDone(t('apps.created', { name: app.name }), t);
          void navigate(`/apps/${app.name}`);
        },
        onError: (error) => {
          if (hasCode(error, 'taken')) form.setFieldError('name', t('rule.taken'));
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
      submitLabel={t('apps.create')}
      saving={create.isPending}
      refusal={refusal}
      curl={() => ({ method: 'POST', path: '/apps', body: bodyOf(form.getValues()) })}
    >
      <TextInput
        label={t('field.name')}
        description={t('apps.nameHint')}
        required
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('name')}
      />
      <Textarea label={t('field.description')} autosize minRows={2} {...form.getInputProps('description')} />
      <NamesPicker
        label={t('apps.owners')}
        description={t('apps.ownersHint')}
        options={(users.data ?? []).map((name) => ({ value: name, label: name }))}
        onSearch={setSearch}
        {...form.getInputProps('owners')}
      />
    </DialogForm>
  );
}

function bodyOf({ name, description, owners }: { name: string; description: string; owners: string[] }) {
  return { name, description: description.trim(), members: owners.map((user) => ({ user, role: 'owner' as const })) };
}
