import { Select, Switch, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { hasCode } from '@/lib/api/problem';
import type { User } from '@/lib/api/types';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { showDone } from '@/components/notify';
import { useUpdateUser } from './api/users';
import { roles } from './roles';

/** Changes a user's display name, role and state. */
export function EditUserDialog({ user, onClose }: { user: User | null; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={user !== null} onClose={onClose} title={t('people.editOf', { user: user?.name })}>
      {user && <EditUserForm user={user} onClose={onClose} />}
    </FormDialog>
  );
}

function EditUserForm({ user, onClose }: { user: User; onClose: () => void }) {
  const { t } = useTranslation();
  const update = useUpdateUser();
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { display_name: user.display_name, role: user.role, disabled: user.disabled },
  });
  const save = onSubmit((patch) =>
    update.mutate(
      { user, patch },
      {
        onSuccess: () => {
          showDone(t('people.saved', { user: user.name }), t);
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
      <TextInput label={t('field.display_name')} data-autofocus {...form.getInputProps('display_name')} />
      <Select
        label={t('field.role')}
        description={t(`roleMeaning.${form.values.role}`)}
        data={roles.map((role) => ({ value: role, label: t(`role.${role}`) }))}
        allowDeselect={false}
        {...form.getInputProps('role')}
      />
      <Switch
        label={t('people.disable')}
        description={t('people.disableHint')}
        {...form.getInputProps('disabled', { type: 'checkbox' })}
      />
    </DialogForm>
  );
}
