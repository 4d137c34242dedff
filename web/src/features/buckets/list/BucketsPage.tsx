import { Text } from '@mantine/core';
import { useCallback, useDeferredValue, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import { useDraft } from '@/lib/drafts';
import { useUrlSet } from '@/lib/url-state';
import { useEver } from '@/lib/use-ever';
import { CursorPager } from '@/components/CursorPager';
import { DataTable } from '@/components/DataTable';
import { ErrorState } from '@/components/States';
import { bucketListQuery, defaultSort, useBuckets } from '@/features/buckets/api/list';
import type { BulkDraft } from '@/features/buckets/bulk/change';
import { BucketFilters } from './BucketFilters';
import { useBucketColumns } from './columns';
import { BulkEdit } from './BulkEdit';
import { FirstBucket, NoBucketMatches } from './EmptyStates';
import { ListHeader } from './ListHeader';
import { rowSelection } from './row-selection';
import { useHiddenColumns } from './shown-columns';
import { useSelection } from './use-selection';

const bucketName = ({ name }: { name: string }) => name;

/** All buckets that one may see. Search, filters, order and page are in the URL. */
export function BucketsPage() {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const set = useUrlSet();
  const query = bucketListQuery(params);
  const draft = useDraft<BulkDraft>('bulk');
  const selection = useSelection(JSON.stringify({ ...query, sort: '', cursor: '' }), draft?.values.buckets);
  const buckets = useBuckets(query, selection.chosen.size > 0);
  const all = useBucketColumns();
  const { hidden, toggle } = useHiddenColumns();
  const columns = useMemo(() => all.filter((column) => !hidden.includes(column.id)), [all, hidden]);
  const narrowed = Boolean(query.search || query.app || query.owner || query.mode || query.label || query.sync || query.cursor);
  // The first rows are drawn at once, others while there is time for it: whoever types need not wait for them.
  const data = useDeferredValue(buckets.data) ?? buckets.data;
  const rows = useMemo(() => data?.items ?? (data ? [] : undefined), [data]);
  const empty = rows?.length === 0;
  // While the list of a cleared search is on its way, what the search found still stands.
  const none = empty && !narrowed && !buckets.isPlaceholderData && buckets.data?.items.length === 0;
  // Filters that were used stay, so that whoever clears them keeps the focus.
  const filtered = useEver(narrowed);
  const shownSelection = useMemo(() => rowSelection(selection, rows ?? [], t), [selection, rows, t]);
  const sortBy = useCallback((sort: string) => set({ sort: sort === defaultSort ? '' : sort }), [set]);
  const next = buckets.data?.next || undefined;

  return (
    <>
      <ListHeader columns={all} hidden={hidden} onToggle={toggle} />
      {(filtered || !none) && <BucketFilters />}
      <Text role="status" className="visually-hidden">
        {rows ? t('buckets.shown', { count: rows.length }) : t('common.loading')}
      </Text>
      {buckets.error && !buckets.data ? (
        <ErrorState error={buckets.error} onRetry={() => void buckets.refetch()} />
      ) : empty ? (
        none ? (
          <FirstBucket />
        ) : (
          <NoBucketMatches onClear={() => set({ search: '', app: '', owner: '', mode: '', label: '', sync: '' })} />
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
