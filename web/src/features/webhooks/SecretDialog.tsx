import { Button, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMe } from '@/lib/api/me';
import { useOnce } from '@/lib/use-once';
import { CurlButton } from '@/components/CurlButton';
import { errorText } from '@/components/error-text';
import { FormDialog } from '@/components/FormDialog';
import { useRenewSecret } from './api/webhooks';
import { WebhookSecretShown } from './WebhookSecretShown';

interface SecretDialogProps {
  name: string;
  opened: boolean;
  onClose: () => void;
}

/** Asks before an endpoint's secret is renewed, and shows the new one this once. */
export function SecretDialog({ name, opened, onClose }: SecretDialogProps) {
  const { t } = useTranslation();
  const [secret, show] = useOnce<string>(opened);
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={secret ? t('webhooks.secretOf', { name }) : t('webhooks.renew')}
      size="lg"
      closeOnClickOutside={!secret}
      closeOnEscape={!secret}
      withCloseButton={!secret}
    >
      {secret ? <WebhookSecretShown secret={secret} onDone={onClose} /> : <Question name={name} onRenewed={show} onCancel={onClose} />}
    </FormDialog>
  );
}

function Question({ name, onRenewed, onCancel }: { name: string; onRenewed: (secret: string) => void; onCancel: () => void }) {
  const { t } = useTranslation();
  const me = useMe();
  const renew = useRenewSecret(name);
  return (
    <Stack>
      <Text>{t('webhooks.renewText')}</Text>
      {renew.error && (
        <Text c="var(--mantine-color-error)" role="alert">
          {errorText(renew.error, t)}
        </Text>
      )}
      <Group justify="flex-end">
        <CurlButton call={() => ({ method: 'POST', path: `/webhooks/${encodeURIComponent(name)}/secret`, login: me.name })} />
        <Button variant="default" onClick={onCancel}>
          {t('common.cancel')}
        </Button>
        <Button
          color="red.8"
          loading={renew.isPending}
          onClick={() => renew.mutate(undefined, { onSuccess: ({ secret }) => onRenewed(secret) })}
          data-autofocus
        >
          {t('webhooks.renew')}
        </Button>
      </Group>
    </Stack>
  );
}
