import type { TFunction } from 'i18next';
import type { Bucket } from '@/lib/api/types';
import type { RowSelection } from '@/components/DataTable';
import type { Selection } from './use-selection';

/** The list's checkboxes; none where no row may be edited. */
export function rowSelection(selection: Selection, rows: readonly Bucket[], t: TFunction): RowSelection<Bucket> | undefined {
  if (!rows.some((bucket) => bucket.may.edit)) return undefined;
  return {
    chosen: (bucket) => selection.chosen.has(bucket.name),
    may: (bucket) => bucket.may.edit,
    onToggle: (bucket, range) => selection.toggle(rows, bucket, range),
    onToggleAll: (on) => selection.toggleAll(rows, on),
    label: (bucket) => t('bulk.select', { name: bucket.name }),
    allLabel: t('bulk.selectPage'),
  };
}
