import { PasswordInput, Select, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/lib/api/me';
import { hasCode } from '@/lib/api/problem';
import type { Role } from '@/lib/api/types';
import { isUserName } from '@/lib/rules';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { showDone } from '@/components/notify';
import { useCreateUser } from './api/users';
import { passwordError } from '@/components/password-error';
import { roles } from './roles';

/** Makes a user. */
export function CreateUserDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={opened} onClose={onClose} title={t('people.create')}>
      <CreateUserForm onClose={onClose} />
    </FormDialog>
  );
}

function CreateUserForm({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const create = useCreateUser();
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { name: '', display_name: '', role: 'member' as Role, password: '' },
    validate: {
      name: (name) => (isUserName(name) ? null : t('rule.userName')),
      password: (password) => passwordError(password, t),
    },
  });
  const save = onSubmit((values) =>
    create.mutate(values, {
      onSuccess: (user) => {
        showDone(t('people.created', { user: user.name }), t);
        onClose();
      },
      onError: (error) => {
        if (hasCode(error, 'taken')) form.setFieldError('name', t('rule.taken'));
        else refused(error, errorText(error, t));
      },
    }),
  );
  return (
    <DialogForm
      ref={element}
      onSubmit={save}
      onCancel={onClose}
      submitLabel={t('people.create')}
      saving={create.isPending}
      refusal={refusal}
      curl={() => ({ method: 'POST', path: '/users', body: form.getValues(), login: me.name, secrets: { password: 'NEW_USER_PASSWORD' } })}
    >
      <TextInput
        label={t('login.name')}
        description={t('people.nameHint')}
        required
        data-autofocus
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        {...form.getInputProps('name')}
      />
      <TextInput label={t('field.display_name')} autoComplete="off" {...form.getInputProps('display_name')} />
      <Select
        label={t('field.role')}
        description={t(`roleMeaning.${form.values.role}`)}
        data={roles.map((role) => ({ value: role, label: t(`role.${role}`) }))}
        allowDeselect={false}
        {...form.getInputProps('role')}
      />
      <PasswordInput
        label={t('people.firstPassword')}
        description={t('people.passwordHint')}
        required
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': t('login.showPassword') }}
        {...form.getInputProps('password')}
      />
    </DialogForm>
  );
}
