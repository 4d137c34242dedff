import { Button, Group, Text } from '@mantine/core';
import { IconApps, IconFilterOff, IconPlus } from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import { useCallback, useDeferredValue, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import type { App } from '@/lib/api/types';
import { useUrlDialog } from '@/lib/url-dialog';
import { useUrlSet } from '@/lib/url-state';
import { useEver } from '@/lib/use-ever';
import { ActionButton } from '@/components/ActionButton';
import { ClearFilters } from '@/components/ClearFilters';
import { CursorPager } from '@/components/CursorPager';
import { DataTable, type Column } from '@/components/DataTable';
import { Name } from '@/components/Name';
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
  const registers = can(useMe(), 'app.create');
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
  // While the list of a cleared search is on its way, what the search found still stands.
  const none = empty && !narrowed && !apps.isPlaceholderData && apps.data?.items.length === 0;
  const searched = useEver(narrowed); // then the field stays, so that whoever clears it keeps the focus
  return (
    <>
      <PageHeader
        title={t('apps.title')}
        description={t('apps.description')}
        actions={
          <ActionButton
            onClick={open}
            leftSection={<IconPlus size={18} aria-hidden />}
            denied={registers ? undefined : t('denied.createApp')}
          >
            {t('apps.create')}
          </ActionButton>
        }
      />
      {(searched || !none) && (
        <Group mb="md" role="search">
          <SearchInput label={t('apps.search')} />
        </Group>
      )}
      {apps.error && !apps.data ? (
        <ErrorState error={apps.error} onRetry={() => void apps.refetch()} />
      ) : empty ? (
        <State
          icon={none ? IconApps : IconFilterOff}
          title={none ? t(registers ? 'apps.firstTitle' : 'apps.emptyTitle') : t('apps.noMatch')}
          actions={none ? registers && <Button onClick={open}>{t('apps.create')}</Button> : <ClearFilters onClear={() => set({ search: '' })} />}
        >
          <Text c="dimmed" maw={480}>
            {none ? t(registers ? 'apps.firstText' : 'apps.emptyText') : t('buckets.noMatchText')}
          </Text>
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
      <CreateAppDialog opened={creating && registers} onClose={close} />
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
      cell: (app) => <Name name={app.name} to={`/apps/${app.name}`} />,
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
