import { Button, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useCallback, useDeferredValue, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import { can, useMe } from '@/lib/api/me';
import { useDraft } from '@/lib/drafts';
import { useUrlSet } from '@/lib/url-state';
import { ActionButton } from '@/components/ActionButton';
import { CursorPager } from '@/components/CursorPager';
import { DataTable } from '@/components/DataTable';
import { ExportMenu } from '@/components/ExportMenu';
import { PageHeader } from '@/components/PageHeader';
import { ErrorState } from '@/components/States';
import { useBuckets } from '@/features/buckets/api/list';
import type { BulkDraft } from '@/features/buckets/bulk/change';
import { BucketFilters } from './BucketFilters';
import { ColumnsMenu } from './ColumnsMenu';
import { useBucketColumns } from './columns';
import { BulkEdit } from './BulkEdit';
import { FirstBucket, NoBucketMatches } from './EmptyStates';
import { rowSelection } from './row-selection';
import { useHiddenColumns } from './shown-columns';
import { useSelection } from './use-selection';

const defaultSort = 'name';
const bucketName = ({ name }: { name: string }) => name;

/** All buckets that one may see. Search, filters, order and page are in the URL. */
export function BucketsPage() {
  const { t } = useTranslation();
  const me = useMe();
  const [params] = useSearchParams();
  const set = useUrlSet();
  const get = (name: string) => params.get(name) ?? '';
  const query = {
    search: get('search'),
    app: get('app'),
    owner: get('owner'),
    mode: get('mode'),
    label: get('label'),
    sync: get('sync'),
    sort: get('sort') || defaultSort,
    cursor: get('cursor'),
  };
  const exported = { search: query.search, app: query.app, owner: query.owner, mode: query.mode, label: query.label };
  const buckets = useBuckets(query);
  const all = useBucketColumns();
  const { hidden, toggle } = useHiddenColumns();
  const columns = useMemo(() => all.filter((column) => !hidden.includes(column.id)), [all, hidden]);
  const narrowed = Boolean(query.search || query.app || query.owner || query.mode || query.label || query.sync || query.cursor);
  // The first rows are drawn at once, others while there is time for it: whoever types need not wait for them.
  const data = useDeferredValue(buckets.data) ?? buckets.data;
  const rows = useMemo(() => data?.items ?? (data ? [] : undefined), [data]);
  const empty = rows?.length === 0;
  const draft = useDraft<BulkDraft>('bulk');
  const selection = useSelection(JSON.stringify({ ...query, sort: '', cursor: '' }), draft?.values.buckets);
  const shownSelection = useMemo(() => rowSelection(selection, rows ?? [], t), [selection, rows, t]);
  const sortBy = useCallback((sort: string) => set({ sort: sort === defaultSort ? '' : sort }), [set]);
  const next = buckets.data?.next || undefined;

  return (
    <>
      <PageHeader
        title={t('buckets.title')}
        description={t('buckets.description')}
        actions={
          <>
            <ColumnsMenu columns={all} hidden={hidden} onToggle={toggle} />
            <ExportMenu path="/api/v1/export/buckets" formats={['csv', 'jsonl']} filters={exported} />
            <Button component={Link} to="/deleted" variant="default">
              {t('deleted.title')}
            </Button>
            <ActionButton
              to="/create/bucket"
              leftSection={<IconPlus size={18} aria-hidden />}
              denied={can(me, 'bucket.create') ? undefined : t('denied.createBucket')}
            >
              {t('buckets.create')}
            </ActionButton>
          </>
        }
      />
      {!(empty && !narrowed) && <BucketFilters />}
      <Text role="status" className="visually-hidden">
        {rows ? t('buckets.shown', { count: rows.length }) : t('common.loading')}
      </Text>
      {buckets.error && !buckets.data ? (
        <ErrorState error={buckets.error} onRetry={() => void buckets.refetch()} />
      ) : empty ? (
        narrowed ? (
          <NoBucketMatches onClear={() => set({ search: '', app: '', owner: '', mode: '', label: '', sync: '' })} />
        ) : (
          <FirstBucket />
        )
      ) : (
        <DataTable
          label={t('buckets.title')}
          columns={columns}
          rows={rows}
          rowId={bucketName}
          sort={query.sort}
          onSort={sortBy}
          selection={shownSelection}
        />
      )}
      <CursorPager next={next} />
      <BulkEdit draft={draft?.values} selection={selection} query={query} paged={next !== undefined || query.cursor !== ''} />
    </>
  );
}
