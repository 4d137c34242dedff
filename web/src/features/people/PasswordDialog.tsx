import { PasswordInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { User } from '@/lib/api/types';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { DialogForm } from '@/components/FormDialog';
import { RecordDialog, type Asked } from '@/components/RecordDialog';
import { showDone } from '@/components/notify';
import { useSetPassword } from './api/users';
import { passwordError } from '@/components/password-error';

/** Sets a user's password; ends the user's sessions. */
export function PasswordDialog({ of, onClose }: { of: Asked<User>; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <RecordDialog
      of={of}
      onClose={onClose}
      title={t('people.passwordOf', { user: of.name ?? '' })}
      none={t('people.nobody', { user: of.name ?? '' })}
    >
      {({ name }) => <PasswordForm name={name} onClose={onClose} />}
    </RecordDialog>
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
