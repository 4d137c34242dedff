import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { CodeBlock } from '@/components/CodeBlock';

/** The secret of an endpoint. It is in no answer after this one. */
export function WebhookSecretShown({ secret, onDone }: { secret: string; onDone: () => void }) {
  const { t } = useTranslation();
  return (
    <Stack>
      <Alert color="orange" icon={<IconAlertTriangle aria-hidden />}>
        <Text fw={650}>{t('tokens.onceTitle')}</Text>
        {t('webhooks.onceText')}
      </Alert>
      <CodeBlock code={secret} label={t('tokens.secret')} />
      <Group justify="flex-end">
        <Button onClick={onDone}>{t('tokens.stored')}</Button>
      </Group>
    </Stack>
  );
}
