import { SegmentedControl, Text } from '@mantine/core';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import type { Token } from '@/lib/api/types';
import { useUrlDialog, useUrlDialogOf } from '@/lib/url-dialog';
import { useUrlSet } from '@/lib/url-state';
import { ActionButton } from '@/components/ActionButton';
import { CursorPager } from '@/components/CursorPager';
import { DataTable } from '@/components/DataTable';
import { PageHeader } from '@/components/PageHeader';
import { ErrorState, State } from '@/components/States';
import { useToken, useTokens } from './api/tokens';
import { useTokenColumns } from './columns';
import { CreateServiceAccountDialog } from './CreateServiceAccountDialog';
import { CreateTokenDialog } from './CreateTokenDialog';
import { RevokeDialog } from './RevokeDialog';

/** One's own API tokens; for admins everybody's, and those of service accounts. */
export function TokensPage() {
  const { t } = useTranslation();
  const manages = can(useMe(), 'token.manage');
  const [params] = useSearchParams();
  const set = useUrlSet();
  const [creating, create] = useUrlDialog('new');
  const [makingAccount, makeAccount] = useUrlDialog('account');
  const [revoking, revoke] = useUrlDialogOf('revoke');
  const all = manages && params.get('all') === 'true';
  const tokens = useTokens({ all, cursor: params.get('cursor') ?? '' });
  const listed = tokens.data?.items.find(({ id }) => String(id) === revoking);
  const one = useToken(revoking, listed);
  const columns = useTokenColumns({ all, onRevoke: (token: Token) => revoke.open(String(token.id)) });
  return (
    <>
      <PageHeader
        title={t('tokens.title')}
        description={t('tokens.description')}
        actions={
          <>
            {manages && (
              <ActionButton onClick={makeAccount.open} variant="default">
                {t('tokens.createAccount')}
              </ActionButton>
            )}
            <ActionButton onClick={create.open} leftSection={<IconPlus size={18} aria-hidden />}>
              {t('tokens.create')}
            </ActionButton>
          </>
        }
      />
      {manages && (
        <SegmentedControl
          mb="md"
          aria-label={t('tokens.whose')}
          value={all ? 'all' : 'own'}
          onChange={(whose) => set({ all: whose === 'all' ? 'true' : '', cursor: '' })}
          data={[
            { value: 'own', label: t('tokens.own') },
            { value: 'all', label: t('tokens.all') },
          ]}
        />
      )}
      {tokens.error && !tokens.data ? (
        <ErrorState error={tokens.error} onRetry={() => void tokens.refetch()} />
      ) : tokens.data?.items.length === 0 ? (
        <State icon={IconKey} title={t('tokens.empty')}>
          <Text c="dimmed" maw={480}>
            {t('tokens.emptyText')}
          </Text>
        </State>
      ) : (
        <DataTable label={t('tokens.title')} columns={columns} rows={tokens.data?.items} rowId={(token) => String(token.id)} />
      )}
      <CursorPager next={tokens.data?.next || undefined} />
      <CreateTokenDialog opened={creating} onClose={create.close} />
      <CreateServiceAccountDialog opened={makingAccount && manages} onClose={makeAccount.close} />
      <RevokeDialog of={{ name: revoking, record: one.data ?? listed, error: one.error }} onClose={revoke.close} />
    </>
  );
}
