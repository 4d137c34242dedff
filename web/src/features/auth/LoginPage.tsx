import { Alert, Button, Card, Center, Divider, Group, PasswordInput, Skeleton, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type FormEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate, useSearchParams } from 'react-router';
import { hasCode } from '@/lib/api/problem';
import { usePageTitle } from '@/lib/page-title';
import { errorText } from '@/components/error-text';
import { Logo } from '@/components/Logo';
import { LanguageMenu, SchemeMenu } from '@/components/Preferences';
import { useLogin } from './login';
import { useLoginMethods } from './methods';
import { safePath } from './safe-path';
import { SignOnButton } from './SignOnButton';
import { signOnFault } from './sign-on-fault';

/** The way in. Leads back to where one wanted to be. */
export function LoginPage() {
  const { t } = useTranslation();
  usePageTitle(t('login.title'));
  return (
    <Center component="main" mih="100vh" p="md">
      <Stack w="100%" maw={400}>
        <Group justify="space-between">
          <Group gap="xs">
            <Logo size={36} />
            <Title order={1} size="h2">
              Headgate
            </Title>
          </Group>
          <Group gap={4}>
            <LanguageMenu />
            <SchemeMenu />
          </Group>
        </Group>
        <Text c="dimmed">{t('login.what')}</Text>
        <Card withBorder padding="lg">
          <WaysIn />
        </Card>
      </Stack>
    </Center>
  );
}

/** What this installation offers; the form alone while that can't be told. */
function WaysIn() {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const { data: methods, isPending } = useLoginMethods();
  if (isPending) return <Skeleton height={220} />;
  const local = methods?.local ?? true;
  const fault = signOnFault(params.get('sign_on'), t);
  const requestId = params.get('request_id');
  return (
    <Stack>
      {fault && (
        <Alert color="red" role="alert">
          {fault}
          {requestId && (
            <Text size="sm" mt="xs" style={{ overflowWrap: 'anywhere' }}>
              {t('signOn.request', { id: requestId.slice(0, 64) })}
            </Text>
          )}
        </Alert>
      )}
      {methods?.oidc && <SignOnButton {...methods.oidc} returnTo={safePath(params.get('next'))} only={!local} />}
      {methods?.oidc && local && <Divider label={t('signOn.or')} />}
      {local && <LoginForm />}
    </Stack>
  );
}

function LoginForm() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [params] = useSearchParams();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const passwordInput = useRef<HTMLInputElement>(null);
  const login = useLogin();

  function submit(event: FormEvent) {
    event.preventDefault();
    login.mutate(
      { name: name.trim(), password },
      {
        onSuccess: (me) => {
          queryClient.clear();
          queryClient.setQueryData(['me'], me);
          void navigate(safePath(params.get('next')), { replace: true });
        },
        onError: () => {
          setPassword('');
          passwordInput.current?.focus();
        },
      },
    );
  }

  const problem =
    login.error && (hasCode(login.error, 'unauthorized') ? t('login.wrong') : errorText(login.error, t));
  return (
    <form onSubmit={submit}>
      <Stack>
        {problem && (
          <Alert color="red" role="alert">
            {problem}
          </Alert>
        )}
        <TextInput
          label={t('login.name')}
          name="username"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
          autoFocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <PasswordInput
          ref={passwordInput}
          label={t('login.password')}
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': t('login.showPassword') }}
        />
        <Button type="submit" loading={login.isPending} fullWidth>
          {t('login.submit')}
        </Button>
      </Stack>
    </form>
  );
}
