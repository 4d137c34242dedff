import { Text } from '@mantine/core';
import { IconPlus, IconWebhook } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { can, useMe } from '@/lib/api/me';
import type { Webhook } from '@/lib/api/types';
import { formatNumber } from '@/lib/format/numbers';
import { useUrlDialog } from '@/lib/url-dialog';
import { ActionButton } from '@/components/ActionButton';
import { DataTable, type Column } from '@/components/DataTable';
import { Name } from '@/components/Name';
import { PageHeader } from '@/components/PageHeader';
import { ErrorState, ForbiddenState, State } from '@/components/States';
import { useWebhooks } from './api/webhooks';
import { CreateWebhookDialog } from './CreateWebhookDialog';
import { WebhookBadge, WebhookTrouble } from './WebhookState';

/** The endpoints that changes are told to, and how that goes. */
export function WebhooksPage() {
  return can(useMe(), 'webhook.manage') ? <Webhooks /> : <ForbiddenState permission="webhook.manage" />;
}

function Webhooks() {
  const { t } = useTranslation();
  const [creating, create] = useUrlDialog('new');
  const webhooks = useWebhooks(true);
  const columns = useColumns();
  return (
    <>
      <PageHeader
        title={t('webhooks.title')}
        description={t('webhooks.description')}
        actions={
          <ActionButton onClick={create.open} leftSection={<IconPlus size={18} aria-hidden />}>
            {t('webhooks.create')}
          </ActionButton>
        }
      />
      {webhooks.error && !webhooks.data ? (
        <ErrorState error={webhooks.error} onRetry={() => void webhooks.refetch()} />
      ) : webhooks.data?.items.length === 0 ? (
        <State icon={IconWebhook} title={t('webhooks.empty')}>
          <Text c="dimmed" maw={480}>
            {t('webhooks.emptyText')}
          </Text>
        </State>
      ) : (
        <DataTable label={t('webhooks.title')} columns={columns} rows={webhooks.data?.items} rowId={(webhook) => webhook.name} />
      )}
      <CreateWebhookDialog opened={creating} onClose={create.close} />
    </>
  );
}

function useColumns(): Column<Webhook>[] {
  const { t, i18n } = useTranslation();
  return [
    {
      id: 'name',
      header: t('field.name'),
      heading: true,
      cell: ({ name, url }) => (
        <>
          <Name name={name} to={`/webhooks/${encodeURIComponent(name)}`} />
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {url}
          </Text>
        </>
      ),
    },
    {
      id: 'state',
      header: t('field.state'),
      cell: ({ state }) => (
        <>
          <WebhookBadge state={state} />
          <WebhookTrouble state={state} />
        </>
      ),
    },
    {
      id: 'waiting',
      header: t('webhooks.waiting'),
      cell: ({ state }) => formatNumber(state.waiting, i18n.language),
    },
    {
      id: 'actions',
      header: t('webhooks.tells'),
      cell: ({ actions }) => (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {actions.length === 0 ? t('webhooks.everything') : actions.join(', ')}
        </Text>
      ),
    },
  ];
}
