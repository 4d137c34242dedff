import { PasswordInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { User } from '@/lib/api/types';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm, FormDialog } from '@/components/FormDialog';
import { showDone } from '@/components/notify';
import { useSetPassword } from './api/users';
import { passwordError } from '@/components/password-error';

/** Sets a user's password; ends the user's sessions. */
export function PasswordDialog({ user, onClose }: { user: User | null; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <FormDialog opened={user !== null} onClose={onClose} title={t('people.passwordOf', { user: user?.name })}>
      {user && <PasswordForm name={user.name} onClose={onClose} />}
    </FormDialog>
  );
}

function PasswordForm({ name, onClose }: { name: string; onClose: () => void }) {
  const { t } = useTranslation();
  const set = useSetPassword(name);
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { password: '' },
    validate: { password: (password) => passwordError(password, t) },
  });
  const save = onSubmit(({ password }) =>
    set.mutate(password, {
      onSuccess: () => {
        showDone(t('people.passwordSet', { user: name }), t);
        onClose();
      },
      onError: (error) => refused(error, errorText(error, t)),
    }),
  );
  return (
    <DialogForm
      ref={element}
      onSubmit={save}
      onCancel={onClose}
      submitLabel={t('people.password')}
      saving={set.isPending}
      refusal={refusal}
    >
      <PasswordInput
        label={t('people.newPassword')}
        description={t('people.passwordSetHint')}
        required
        data-autofocus
        autoComplete="new-password"
        visibilityToggleButtonProps={{ 'aria-label': t('login.showPassword') }}
        {...form.getInputProps('password')}
      />
    </DialogForm>
  );
}
