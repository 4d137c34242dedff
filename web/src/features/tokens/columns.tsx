import { Badge, Button, Code, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Token } from '@/lib/api/types';
import type { Column } from '@/components/DataTable';
import { RelativeTime } from '@/components/RelativeTime';
import { StateBadge } from '@/components/StateBadge';
import { endsSoon, mayEnd } from './choices';

interface TokenColumns {
  /** Everybody's tokens are listed, so each row says whose it is. */
  all: boolean;
  onRevoke: (token: Token) => void;
}

/** The columns of the list of API tokens. */
export function useTokenColumns({ all, onRevoke }: TokenColumns): Column<Token>[] {
  const { t } = useTranslation();
  const columns: Column<Token>[] = [
    {
      id: 'name',
      header: t('field.name'),
      heading: true,
      cell: (token) => (
        <>
          <Text fw={600} inherit style={{ overflowWrap: 'anywhere' }}>
            {token.name}
          </Text>
          <Code>{token.hint}…</Code>
        </>
      ),
    },
    { id: 'scopes', header: t('tokens.scopes'), cell: (token) => <Scopes token={token} /> },
    { id: 'state', header: t('field.state'), cell: ({ state }) => <StateBadge tone={tones[state]}>{t(`tokenState.${state}`)}</StateBadge> },
    { id: 'expires', header: t('tokens.expires'), cell: (token) => <Expiry token={token} /> },
    { id: 'used', header: t('tokens.lastUsed'), cell: (token) => <LastUse token={token} /> },
    {
      id: 'actions',
      header: t('table.actions'),
      cell: (token) =>
        mayEnd(token) ? (
          <Button
            size="xs"
            variant="default"
            onClick={() => onRevoke(token)}
            aria-label={t('tokens.revokeOf', { name: token.name })}
          >
            {t('tokens.revoke')}
          </Button>
        ) : (
          <Text size="sm" c="dimmed">
            {token.revoked_by ? t('tokens.revokedBy', { user: token.revoked_by }) : '–'}
          </Text>
        ),
    },
  ];
  if (all) columns.splice(1, 0, { id: 'user', header: t('tokens.actsAs'), cell: (token) => <Whose token={token} /> });
  return columns;
}

function Whose({ token }: { token: Token }) {
  const { t } = useTranslation();
  return (
    <>
      <Text inherit style={{ overflowWrap: 'anywhere' }}>{token.user}</Text>
      {token.kind === 'service' && (
        <Text size="sm" c="dimmed">
          {t('tokens.serviceMadeBy', { user: token.made_by })}
        </Text>
      )}
    </>
  );
}

function Scopes({ token }: { token: Token }) {
  const { t } = useTranslation();
  return (
    <Group gap={4}>
      {token.scopes.map((scope) => (
        <Badge key={scope} variant="default" tt="none" title={t(`tokenScope.${scope}`)}>
          {scope}
        </Badge>
      ))}
    </Group>
  );
}

const tones = { active: 'good', expired: 'off', revoked: 'off', suspended: 'watch' } as const;

function Expiry({ token }: { token: Token }) {
  const { t } = useTranslation();
  const soon = token.state === 'active' && endsSoon(token.expires_at, new Date());
  return (
    <Stack gap={0}>
      <RelativeTime at={token.expires_at} />
      {soon && (
        <Group gap={4} wrap="nowrap">
          <IconAlertTriangle size={14} aria-hidden />
          <Text size="sm">{t('tokens.endsSoon')}</Text>
        </Group>
      )}
    </Stack>
  );
}

function LastUse({ token }: { token: Token }) {
  const { t } = useTranslation();
  if (!token.last_used_at) return <Text inherit c="dimmed">{t('tokens.neverUsed')}</Text>;
  return (
    <>
      <RelativeTime at={token.last_used_at} />
      <Text size="sm" c="dimmed">
        {t('audit.address', { address: token.last_used_address })}
      </Text>
    </>
  );
}
