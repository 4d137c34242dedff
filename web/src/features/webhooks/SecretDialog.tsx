import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { errorText } from '@/components/error-text';
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
  const renew = useRenewSecret(name);
  const secret = renew.data?.secret;

  function close() {
    renew.reset();
    onClose();
  }

  return (
    <Modal
      opened={opened}
      onClose={close}
      title={secret ? t('webhooks.secretOf', { name }) : t('webhooks.renew')}
      size="lg"
      closeOnClickOutside={!secret}
      closeOnEscape={!secret}
      withCloseButton={!secret}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {secret ? (
        <WebhookSecretShown secret={secret} onDone={close} />
      ) : (
        <Stack>
          <Text>{t('webhooks.renewText')}</Text>
          {renew.error && (
            <Text c="var(--mantine-color-error)" role="alert">
              {errorText(renew.error, t)}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('common.cancel')}
            </Button>
            <Button color="red.8" loading={renew.isPending} onClick={() => renew.mutate()} data-autofocus>
              {t('webhooks.renew')}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
