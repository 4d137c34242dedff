import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { CodeBlock } from '@/components/CodeBlock';

/** The secret of a new token, and how to use it. It is in no answer after this one. */
export function SecretShown({ secret, onDone }: { secret: string; onDone: () => void }) {
  const { t } = useTranslation();
  const example = `curl -H 'Authorization: Bearer ${secret}' ${location.origin}/api/v1/auth/me`;
  return (
    <Stack>
      <Alert color="orange" icon={<IconAlertTriangle aria-hidden />}>
        <Text fw={650}>{t('tokens.onceTitle')}</Text>
        {t('tokens.onceText')}
      </Alert>
      <CodeBlock code={secret} label={t('tokens.secret')} />
      <Text size="sm">{t('tokens.tryIt')}</Text>
      <CodeBlock code={example} label={t('tokens.example')} />
      <Group justify="flex-end">
        <Button onClick={onDone}>{t('tokens.stored')}</Button>
      </Group>
    </Stack>
  );
}
