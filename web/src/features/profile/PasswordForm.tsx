import { Alert, Button, PasswordInput, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/lib/api/me';
import { useSimpleForm } from '@/lib/use-simple-form';
import { errorText } from '@/components/error-text';
import { showDone } from '@/components/notify';
import { passwordError } from '@/components/password-error';
import { Section } from '@/components/Section';
import { useChangePassword } from './api/profile';

/** Changes one's own password. */
export function PasswordForm() {
  const { t } = useTranslation();
  const me = useMe();
  const change = useChangePassword();
  const { form, element, refusal, refused, onSubmit } = useSimpleForm({
    initialValues: { current: '', password: '', again: '' },
    validate: {
      current: (current) => (current ? null : t('rule.required')),
      password: (password) => passwordError(password, t),
      again: (again, { password }) => (again === password ? null : t('profile.notTheSame')),
    },
  });
  const submit = onSubmit(({ current, password }) =>
    change.mutate(
      { current, password },
      {
        onSuccess: () => {
          form.reset();
          showDone(t('profile.passwordChanged'), t);
        },
        onError: (error) => refused(error, errorText(error, t)),
      },
    ),
  );
  const reveal = { visibilityToggleButtonProps: { 'aria-label': t('login.showPassword') } };
  return (
    <Section title={t('login.password')} description={t('profile.passwordText')}>
      <form ref={element} onSubmit={submit} noValidate>
        <Stack>
          {/* Password managers learn from it whose password this is. */}
          <input type="text" name="username" autoComplete="username" value={me.name} readOnly hidden />
          <PasswordInput label={t('profile.current')} required autoComplete="current-password" {...reveal} {...form.getInputProps('current')} />
          <PasswordInput
            label={t('people.newPassword')}
            description={t('rule.password', { min: 12, max: 128 })}
            required
            autoComplete="new-password"
            {...reveal}
            {...form.getInputProps('password')}
          />
          <PasswordInput label={t('profile.again')} required autoComplete="new-password" {...reveal} {...form.getInputProps('again')} />
          {refusal.length > 0 && (
            <Alert color="red" role="alert">
              {refusal.join(' ')}
            </Alert>
          )}
          <Button type="submit" w="fit-content" loading={change.isPending}>
            {t('profile.changePassword')}
          </Button>
        </Stack>
      </form>
    </Section>
  );
}
