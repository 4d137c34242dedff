import { Checkbox, Skeleton, Table, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconArrowsSort } from '@tabler/icons-react';
import { replaceEqualDeep } from '@tanstack/react-query';
import { memo, useCallback, useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Td, Th, Tr } from './cells';
import classes from './DataTable.module.css';
import { RowCheckbox } from './RowCheckbox';

export interface Column<T> {
  id: string;
  header: string;
  cell: (row: T) => ReactNode;
  /** The name by which the server sorts; columns without it can't be sorted. */
  sort?: string;
  /** The column that names the row. */
  heading?: boolean;
}

/** A first column of checkboxes. */
export interface RowSelection<T> {
  chosen: (row: T) => boolean;
  /** Rows that can't be picked have no checkbox. */
  may: (row: T) => boolean;
  /** `range` is set when Shift was held: all from the row before to this one. */
  onToggle: (row: T, range: boolean) => void;
  onToggleAll: (on: boolean) => void;
  /** What a row's checkbox does, in words. */
  label: (row: T) => string;
  allLabel: string;
}

interface DataTableProps<T> {
  /** What the table holds, for screen readers. */
  label: string;
  columns: Column<T>[];
  /** undefined while loading. */
  rows: T[] | undefined;
  rowId: (row: T) => string;
  /** "name" or, descending, "-name". */
  sort?: string;
  onSort?: (sort: string) => void;
  selection?: RowSelection<T> | undefined;
}

const skeletonRows = 6;

/**
 * The console's one table. On narrow screens every row becomes a card; the roles are written out because a table that
 * is displayed as blocks is no table to some browsers. It is drawn again only when something that it is given changes.
 */
export const DataTable = memo(PlainTable) as typeof PlainTable;

function PlainTable<T>({ label, columns, rows, rowId, sort, onSort, selection }: DataTableProps<T>) {
  const latest = useRef(selection);
  useEffect(() => {
    latest.current = selection;
  });
  const toggle = useCallback((row: T, range: boolean) => latest.current?.onToggle(row, range), []);
  return (
    <div className={classes.scroll}>
      <Table
        className={classes.table}
        role="table"
        aria-label={label}
        aria-busy={rows === undefined}
        verticalSpacing="sm"
        horizontalSpacing={8}
      >
        <Table.Thead role="rowgroup" className={classes.head}>
          <Table.Tr role="row">
            {selection && (
              <Table.Th role="columnheader" scope="col" className={classes.select}>
                <SelectAll selection={selection} rows={rows ?? []} />
              </Table.Th>
            )}
            {columns.map((column) => (
              <HeaderCell key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows === undefined
            ? Array.from({ length: skeletonRows }, (_, index) => <SkeletonRow key={index} columns={columns.length + (selection ? 1 : 0)} />)
            : rows.map((row) => (
                <Row
                  key={rowId(row)}
                  row={row}
                  columns={columns}
                  pick={selection && (selection.may(row) ? selection.label(row) : null)}
                  picked={selection?.chosen(row) ?? false}
                  onPick={toggle}
                />
              ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

interface RowProps<T> {
  row: T;
  columns: readonly Column<T>[];
  /** What its checkbox does, in words; null without one, undefined where no row has one. */
  pick: string | null | undefined;
  picked: boolean;
  onPick: (row: T, range: boolean) => void;
}

function PlainRow<T>({ row, columns, pick, picked, onPick }: RowProps<T>) {
  return (
    <Tr role="row" className={classes.row}>
      {pick !== undefined && (
        <Td role="cell" className={classes.select}>
          {pick !== null && <RowCheckbox label={pick} checked={picked} onPick={(range) => onPick(row, range)} />}
        </Td>
      )}
      {columns.map((column) => (
        <Cell key={column.id} column={column} row={row} />
      ))}
    </Tr>
  );
}

/** A row that says the same as before is not drawn again, though each answer of the server is new. */
const Row = memo(
  PlainRow,
  (before, now) =>
    replaceEqualDeep(before.row, now.row) === before.row &&
    before.columns === now.columns &&
    before.pick === now.pick &&
    before.picked === now.picked &&
    before.onPick === now.onPick,
) as typeof PlainRow;

function SelectAll<T>({ selection, rows }: { selection: RowSelection<T>; rows: readonly T[] }) {
  const pickable = rows.filter(selection.may);
  const count = pickable.filter(selection.chosen).length;
  const all = count > 0 && count === pickable.length;
  return (
    <Checkbox
      aria-label={selection.allLabel}
      checked={all}
      indeterminate={count > 0 && !all}
      onChange={() => selection.onToggleAll(!all)}
    />
  );
}

function Cell<T>({ column, row }: { column: Column<T>; row: T }) {
  if (column.heading) {
    return (
      <Th role="rowheader" scope="row" className={`${classes.cell} ${classes.name}`}>
        {column.cell(row)}
      </Th>
    );
  }
  return (
    <Td role="cell" className={classes.cell} data-label={column.header}>
      <div className={classes.value}>{column.cell(row)}</div>
    </Td>
  );
}

interface HeaderCellProps<T> {
  column: Column<T>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}

function HeaderCell<T>({ column, sort, onSort }: HeaderCellProps<T>) {
  const { t } = useTranslation();
  const name = column.sort;
  if (name === undefined || onSort === undefined) {
    return (
      <Table.Th role="columnheader" scope="col">
        {column.header}
      </Table.Th>
    );
  }
  const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none';
  const Icon = { ascending: IconArrowUp, descending: IconArrowDown, none: IconArrowsSort }[direction];
  return (
    <Table.Th role="columnheader" scope="col" aria-sort={direction}>
      <UnstyledButton
        className={classes.sort}
        onClick={() => onSort(direction === 'ascending' ? `-${name}` : name)}
      >
        {column.header}
        <Icon size={14} aria-hidden />
        <VisuallyHidden>{t('table.sort')}</VisuallyHidden>
      </UnstyledButton>
    </Table.Th>
  );
}

function SkeletonRow({ columns }: { columns: number }) {
  return (
    <Table.Tr role="row" className={classes.row}>
      {Array.from({ length: columns }, (_, index) => (
        <Table.Td role="cell" key={index} className={classes.cell}>
          <Skeleton height={14} width={index === 0 ? '80%' : '60%'} my={4} />
        </Table.Td>
      ))}
    </Table.Tr>
  );
}
