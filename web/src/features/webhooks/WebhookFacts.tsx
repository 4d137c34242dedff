import { Code, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Webhook } from '@/lib/api/types';
import { formatNumber } from '@/lib/format/numbers';
import { RelativeTime } from '@/components/RelativeTime';
import { Section } from '@/components/Section';

/** What an endpoint is told, and how far it has been. */
export function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const { t, i18n } = useTranslation();
  const { state } = webhook;
  const kind = webhook.target_kind ? t(`kind.${webhook.target_kind}`, { defaultValue: webhook.target_kind }) : '';
  return (
    <Section title={t('webhooks.endpoint')}>
      <SimpleGrid cols={{ base: 1, sm: 2 }} component="dl" m={0}>
        <Fact label={t('webhooks.url')}>
          <Code style={{ overflowWrap: 'anywhere' }}>{webhook.url}</Code>
        </Fact>
        <Fact label={t('webhooks.tells')}>{webhook.actions.length === 0 ? t('webhooks.everything') : webhook.actions.join(', ')}</Fact>
        {kind && (
          <Fact label={t('webhooks.only')}>
            {kind} {webhook.target}
          </Fact>
        )}
        <Fact label={t('webhooks.checkpoints')}>{webhook.checkpoints ? t('common.yes') : t('common.no')}</Fact>
        <Fact label={t('webhooks.waiting')}>{formatNumber(state.waiting, i18n.language)}</Fact>
        <Fact label={t('webhooks.toldUpTo')}>
          <Code>{state.cursor}</Code>
        </Fact>
        <Fact label={t('bucket.lastChange')}>
          {webhook.updated_by}, <RelativeTime at={webhook.updated_at} />
        </Fact>
      </SimpleGrid>
    </Section>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack gap={2} style={{ minWidth: 0 }}>
      <Text component="dt" size="sm" c="dimmed">
        {label}
      </Text>
      <Text component="dd" m={0} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </Stack>
  );
}
