import { Alert, Group, Skeleton, Stack } from '@mantine/core';
import { IconAlertTriangle, IconPencil, IconPlayerPause, IconPlayerPlay, IconSend } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import type { WebhookDetail } from '@/lib/api/types';
import { useUrlDialog } from '@/lib/url-dialog';
import { useEver } from '@/lib/use-ever';
import { ActionButton } from '@/components/ActionButton';
import { showDone, showError } from '@/components/notify';
import { PageHeader } from '@/components/PageHeader';
import { ErrorState, ForbiddenState } from '@/components/States';
import { Written } from '@/components/Written';
import { inputOf, useTestWebhook, useUpdateWebhook, useWebhook } from './api/webhooks';
import { Attempts } from './Attempts';
import { failureText } from './failure';
import { WebhookDanger } from './WebhookDanger';
import { WebhookFacts } from './WebhookFacts';
import { WebhookBadge, WebhookTrouble } from './WebhookState';

const EditWebhookDialog = lazy(async () => ({ default: (await import('./EditWebhookDialog')).EditWebhookDialog }));

/** One endpoint: what it is told, how that goes, and what can be done about it. */
export function WebhookPage() {
  const { name = '' } = useParams();
  return can(useMe(), 'webhook.manage') ? <Loaded name={name} /> : <ForbiddenState permission="webhook.manage" />;
}

function Loaded({ name }: { name: string }) {
  const { t } = useTranslation();
  const webhook = useWebhook(name);
  if (webhook.data) return <WebhookView webhook={webhook.data} />;
  if (webhook.error) return <ErrorState error={webhook.error} onRetry={() => void webhook.refetch()} page />;
  return (
    <Stack role="status" aria-label={t('common.loading')}>
      <Skeleton height={28} width="40%" />
      <Skeleton height={220} />
    </Stack>
  );
}

function WebhookView({ webhook }: { webhook: WebhookDetail }) {
  const { t } = useTranslation();
  const [editing, edit] = useUrlDialog('edit');
  const asked = useEver(editing);
  return (
    <>
      <PageHeader
        title={webhook.name}
        up={{ to: '/webhooks', label: t('webhooks.title') }}
        description={webhook.description && <Written>{webhook.description}</Written>}
        badges={<WebhookBadge state={webhook.state} />}
        actions={
          <Group gap="xs">
            <TestButton name={webhook.name} />
            <SwitchButton webhook={webhook} />
            <ActionButton onClick={edit.open} leftSection={<IconPencil size={16} aria-hidden />}>
              {t('webhooks.edit')}
            </ActionButton>
          </Group>
        }
      />
      <Stack gap="lg">
        {webhook.state.failed_at && (
          <Alert color="orange" icon={<IconAlertTriangle aria-hidden />} title={t('webhooks.failures', { count: webhook.state.failures })}>
            <WebhookTrouble state={webhook.state} />
          </Alert>
        )}
        <WebhookFacts webhook={webhook} />
        <Attempts attempts={webhook.attempts} />
        <WebhookDanger webhook={webhook} />
      </Stack>
      <Suspense fallback={null}>{asked && <EditWebhookDialog webhook={webhook} opened={editing} onClose={edit.close} />}</Suspense>
    </>
  );
}

function TestButton({ name }: { name: string }) {
  const { t } = useTranslation();
  const test = useTestWebhook(name);

  function send() {
    test.mutate(undefined, {
      onSuccess: ({ status, error }) => {
        if (error) showError(new Error(error), t, t('webhooks.testFailed', { failure: failureText(error, t) }));
        else showDone(t('webhooks.testWentWell', { status }), t);
      },
      onError: (error) => showError(error, t),
    });
  }

  return (
    <ActionButton onClick={send} variant="default" loading={test.isPending} leftSection={<IconSend size={16} aria-hidden />}>
      {t('webhooks.test')}
    </ActionButton>
  );
}

function SwitchButton({ webhook }: { webhook: WebhookDetail }) {
  const { t } = useTranslation();
  const update = useUpdateWebhook(webhook.name);
  const Icon = webhook.enabled ? IconPlayerPause : IconPlayerPlay;

  function turn() {
    update.mutate(
      { base: webhook.revision, body: { ...inputOf(webhook), enabled: !webhook.enabled } },
      {
        onSuccess: ({ enabled, name }) => showDone(t(enabled ? 'webhooks.isOn' : 'webhooks.isOff', { name }), t),
        onError: (error) => showError(error, t),
      },
    );
  }

  return (
    <ActionButton onClick={turn} variant="default" loading={update.isPending} leftSection={<Icon size={16} aria-hidden />}>
      {t(webhook.enabled ? 'webhooks.turnOff' : 'webhooks.turnOn')}
    </ActionButton>
  );
}
