import { Select, Switch, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/lib/api/me';
import type { User } from '@/lib/api/types';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm } from '@/components/FormDialog';
import { OvertakenNotice } from '@/components/OvertakenNotice';
import { RecordDialog, type Asked } from '@/components/RecordDialog';
import { showDone } from '@/components/notify';
import { useUpdateUser } from './api/users';
import { roles } from './roles';

/** Changes a user's display name, role and state. */
export function EditUserDialog({ of, onClose }: { of: Asked<User>; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <RecordDialog
      of={of}
      onClose={onClose}
      title={t('people.editOf', { user: of.name ?? '' })}
      none={t('people.nobody', { user: of.name ?? '' })}
    >
      {(user) => <EditUserForm user={user} onClose={onClose} />}
    </RecordDialog>
  );
}

function EditUserForm({ user, onClose }: { user: User; onClose: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const update = useUpdateUser();
  const { form, element, refusal, refused, onSubmit, base = user.revision, overtaken } = useSimpleForm({
    initialValues: { display_name: user.display_name, role: user.role, disabled: user.disabled },
  }, user.revision);
  const save = onSubmit((patch) =>
    update.mutate(
      { user: { ...user, revision: base }, patch },
      {
        onSuccess: () => {
          showDone(t('people.saved', { user: user.name }), t);
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
      curl={() => ({ method: 'PUT', path: `/users/${encodeURIComponent(user.name)}`, base, body: form.getValues(), login: me.name })}
    >
      {overtaken && (
        <OvertakenNotice
          overtaken={overtaken}
          fields={{ display_name: t('field.display_name'), role: t('field.role'), disabled: t('field.disabled') }}
        />
      )}
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
