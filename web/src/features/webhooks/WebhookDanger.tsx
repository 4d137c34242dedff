import { Group, Text } from '@mantine/core';
import { IconKey, IconRepeat, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { hasCode } from '@/lib/api/problem';
import { useMe } from '@/lib/api/me';
import type { Webhook } from '@/lib/api/types';
import { deletion } from '@/lib/curl';
import { useUrlDialog } from '@/lib/url-dialog';
import { ActionButton } from '@/components/ActionButton';
import { DeleteByName } from '@/components/DeleteByName';
import { errorText } from '@/components/error-text';
import { showDone } from '@/components/notify';
import { Section } from '@/components/Section';
import { useDeleteWebhook } from './api/webhooks';
import { RedeliverDialog } from './RedeliverDialog';
import { SecretDialog } from './SecretDialog';

/** What the receiver notices: another secret, the same changes again, the end. */
export function WebhookDanger({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation();
  const me = useMe();
  const navigate = useNavigate();
  const [renewing, renew] = useUrlDialog('secret');
  const [redelivering, redeliver] = useUrlDialog('redeliver');
  const [deleting, remove] = useUrlDialog('delete');
  const removal = useDeleteWebhook(webhook.name);
  const error = removal.error && (hasCode(removal.error, 'stale') ? t('delete.stale') : errorText(removal.error, t));

  function submit(reason: string) {
    removal.mutate(
      { base: webhook.revision, reason },
      {
        onSuccess: () => {
          showDone(t('saved.deleted', { name: webhook.name }), t);
          void navigate('/webhooks');
        },
      },
    );
  }

  return (
    <Section title={t('webhooks.danger')} description={t('webhooks.dangerText')}>
      <Group gap="xs">
        <ActionButton variant="default" onClick={redeliver.open} leftSection={<IconRepeat size={16} aria-hidden />}>
          {t('webhooks.redeliver')}
        </ActionButton>
        <ActionButton variant="default" onClick={renew.open} leftSection={<IconKey size={16} aria-hidden />}>
          {t('webhooks.renew')}
        </ActionButton>
        <ActionButton color="red.8" onClick={remove.open} leftSection={<IconTrash size={16} aria-hidden />}>
          {t('webhooks.delete')}
        </ActionButton>
      </Group>
      <RedeliverDialog webhook={webhook} opened={redelivering} onClose={redeliver.close} />
      <SecretDialog name={webhook.name} opened={renewing} onClose={renew.close} />
      <DeleteByName
        opened={deleting}
        onClose={remove.close}
        name={webhook.name}
        title={t('webhooks.delete')}
        confirm={t('webhooks.remove')}
        withReason
        onDelete={submit}
        deleting={removal.isPending}
        error={error ?? undefined}
        curl={(reason) => deletion(`/webhooks/${encodeURIComponent(webhook.name)}`, reason, { base: webhook.revision, login: me.name })}
      >
        <Text>{t('webhooks.deleteText')}</Text>
      </DeleteByName>
    </Section>
  );
}
