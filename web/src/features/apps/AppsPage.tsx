import { Anchor, Button, Group, Text } from '@mantine/core';
import { IconApps, IconFilterOff, IconPlus } from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { useCallback, useDeferredValue, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import type { App } from '@/lib/api/types';
import { useUrlDialog } from '@/lib/url-dialog';
import { useUrlSet } from '@/lib/url-state';
import { ActionButton } from '@/components/ActionButton';
import { CursorPager } from '@/components/CursorPager';
import { DataTable, type Column } from '@/components/DataTable';
import { PageHeader } from '@/components/PageHeader';
import { RelativeTime } from '@/components/RelativeTime';
import { SearchInput } from '@/components/SearchInput';
import { ErrorState, State } from '@/components/States';
import { Written } from '@/components/Written';
import { useApps } from './api/list';
import { CreateAppDialog } from './CreateAppDialog';

/** The apps that one may see. */
export function AppsPage() {
  const { t } = useTranslation();
  const me = useMe();
  const [params] = useSearchParams();
  const set = useUrlSet();
  const [creating, { open, close }] = useUrlDialog('new');
  const query = {
    search: params.get('search') ?? '',
    cursor: params.get('cursor') ?? '',
    sort: params.get('sort') ?? 'name',
  };
  const apps = useApps(query);
  // The first rows are drawn at once, others while there is time for it: whoever types need not wait for them.
  const data = useDeferredValue(apps.data) ?? apps.data;
  const columns = useMemo(() => appColumns(t), [t]);
  const sortBy = useCallback((sort: string) => set({ sort: sort === 'name' ? '' : sort }), [set]);
  const narrowed = Boolean(query.search || query.cursor);
  const empty = data?.items.length === 0;
  return (
    <>
      <PageHeader
        title={t('apps.title')}
        description={t('apps.description')}
        actions={
          <ActionButton
            onClick={open}
            leftSection={<IconPlus size={18} aria-hidden />}
            denied={can(me, 'app.create') ? undefined : t('denied.createApp')}
          >
            {t('apps.create')}
          </ActionButton>
        }
      />
      {(narrowed || !empty) && (
        <Group mb="md" role="search">
          <SearchInput label={t('apps.search')} />
        </Group>
      )}
      {apps.error && !apps.data ? (
        <ErrorState error={apps.error} onRetry={() => void apps.refetch()} />
      ) : empty ? (
        <State
          icon={narrowed ? IconFilterOff : IconApps}
          title={narrowed ? t('apps.noMatch') : t('apps.emptyTitle')}
          actions={
            narrowed && (
              <Button variant="default" onClick={() => set({ search: '' })}>
                {t('buckets.clearFilters')}
              </Button>
            )
          }
        >
          {!narrowed && <Text c="dimmed">{t('apps.emptyText')}</Text>}
        </State>
      ) : (
        <DataTable
          label={t('apps.title')}
          columns={columns}
          rows={data?.items}
          rowId={appName}
          sort={query.sort}
          onSort={sortBy}
        />
      )}
      <CursorPager next={apps.data?.next || undefined} />
      <CreateAppDialog opened={creating && can(me, 'app.create')} onClose={close} />
    </>
  );
}

const appName = ({ name }: App) => name;

function appColumns(t: TFunction): Column<App>[] {
  return [
    {
      id: 'name',
      header: t('field.name'),
      sort: 'name',
      heading: true,
      cell: (app) => (
        <Anchor component={Link} to={`/apps/${app.name}`} fw={600} style={{ overflowWrap: 'anywhere' }}>
          {app.name}
        </Anchor>
      ),
    },
    { id: 'description', header: t('field.description'), cell: (app) => <Written>{app.description}</Written> },
    { id: 'members', header: t('field.members'), cell: (app) => app.members.map((member) => member.user).join(', ') },
    {
      id: 'updated',
      header: t('field.updated'),
      sort: 'updated_at',
      cell: (app) => <RelativeTime at={app.updated_at} />,
    },
  ];
}
