import { Group, Text } from '@mantine/core';
import { IconFilterOff, IconTrashOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useSearchParams } from 'react-router';
import type { DeletedBucket } from '@/lib/api/types';
import { useEver } from '@/lib/use-ever';
import { useUrlSet } from '@/lib/url-state';
import { useUrlDialogOf } from '@/lib/url-dialog';
import { ActionButton } from '@/components/ActionButton';
import { ClearFilters } from '@/components/ClearFilters';
import { CursorPager } from '@/components/CursorPager';
import { DataTable, type Column } from '@/components/DataTable';
import { Name } from '@/components/Name';
import { PageHeader } from '@/components/PageHeader';
import { RelativeTime } from '@/components/RelativeTime';
import { Written } from '@/components/Written';
import { SearchInput } from '@/components/SearchInput';
import { ErrorState, State } from '@/components/States';
import { useDeletedBucket, useDeletedBuckets } from '@/features/buckets/api/history';
import { LimitText } from '@/components/LimitText';
import { RestoreDialog, whyNot } from './RestoreDialog';

/** The deleted buckets that one may see: all of them, or those that one owned. */
export function DeletedPage() {
  const { t } = useTranslation();
  const [params] = useSearchParams();
  const set = useUrlSet();
  const [chosen, restore] = useUrlDialogOf('restore');
  const deleted = useDeletedBuckets({ search: params.get('search') ?? '', cursor: params.get('cursor') ?? '' });
  const columns = useColumns(({ name }) => restore.open(name));
  const rows = deleted.data?.items;
  const listed = rows?.find(({ name }) => name === chosen);
  const one = useDeletedBucket(chosen, listed);
  const narrowed = Boolean(params.get('search') || params.get('cursor'));
  // While the list of a cleared search is on its way, what the search found still stands.
  const none = rows?.length === 0 && !narrowed && !deleted.isPlaceholderData;
  const searched = useEver(narrowed); // then the field stays, so that whoever clears it keeps the focus
  return (
    <>
      <PageHeader title={t('deleted.title')} description={t('deleted.description')} up={{ to: '/buckets', label: t('buckets.title') }} />
      {(searched || !none) && (
        <Group mb="md" role="search">
          <SearchInput label={t('deleted.search')} />
        </Group>
      )}
      {deleted.error && !deleted.data ? (
        <ErrorState error={deleted.error} onRetry={() => void deleted.refetch()} />
      ) : rows?.length === 0 ? (
        <State
          icon={none ? IconTrashOff : IconFilterOff}
          title={none ? t('deleted.empty') : t('buckets.noMatch')}
          actions={!none && <ClearFilters onClear={() => set({ search: '' })} />}
        >
          <Text c="dimmed" maw={560}>
            {none ? t('deleted.emptyText') : t('buckets.noMatchText')}
          </Text>
        </State>
      ) : (
        <DataTable label={t('deleted.title')} columns={columns} rows={rows} rowId={(bucket) => bucket.name} />
      )}
      <CursorPager next={deleted.data?.next || undefined} />
      <RestoreDialog of={{ name: chosen, record: one.data ?? listed, error: one.error }} onClose={restore.close} />
    </>
  );
}

function useColumns(onRestore: (bucket: DeletedBucket) => void): Column<DeletedBucket>[] {
  const { t } = useTranslation();
  return [
    { id: 'name', header: t('field.name'), heading: true, cell: ({ name }) => <Name name={name} /> },
    {
      id: 'limit',
      header: t('field.limit'),
      cell: ({ definition }) => (definition ? <LimitText limit={definition} /> : t('common.none')),
    },
    { id: 'by', header: t('deleted.by'), cell: ({ deleted_by }) => deleted_by },
    { id: 'at', header: t('deleted.at'), cell: ({ deleted_at }) => <RelativeTime at={deleted_at} /> },
    {
      id: 'reason',
      header: t('reason.label'),
      cell: ({ reason }) => (
        <Text size="sm" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
          <Written>{reason}</Written>
        </Text>
      ),
    },
    {
      id: 'restore',
      header: t('deleted.restore'),
      cell: (bucket) => (
        <ActionButton
          variant="default"
          size="xs"
          onClick={() => onRestore(bucket)}
          denied={bucket.may_restore ? undefined : whyNot(bucket, t)}
        >
          {t('deleted.restore')} <span className="visually-hidden">{bucket.name}</span>
        </ActionButton>
      ),
    },
  ];
}
