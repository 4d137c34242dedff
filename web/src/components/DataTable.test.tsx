// @vitest-environment jsdom
import { MantineProvider } from '@mantine/core';
import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { withBrowser } from '@/lib/testing';
import { DataTable, type Column, type RowSelection } from './DataTable';

interface Bucket {
  name: string;
  labels: Record<string, string>;
}

const drawn = vi.fn<(name: string) => void>();
const columns: Column<Bucket>[] = [
  {
    id: 'name',
    header: 'Name',
    heading: true,
    cell: ({ name, labels }) => {
      drawn(name);
      return `${name} ${labels.team}`;
    },
  },
];
const rowId = ({ name }: Bucket) => name;
const rows = (team = 'red') => ['a', 'b', 'c'].map((name) => ({ name, labels: { team: name === 'b' ? team : 'red' } }));

function table(shown: Bucket[], selection?: RowSelection<Bucket>) {
  return (
    <MantineProvider>
      <DataTable label="Buckets" columns={columns} rows={shown} rowId={rowId} selection={selection} />
    </MantineProvider>
  );
}

function picking(chosen: string[], onToggle: RowSelection<Bucket>['onToggle'] = () => undefined): RowSelection<Bucket> {
  return { chosen: ({ name }) => chosen.includes(name), may: ({ name }) => name !== 'c', onToggle, onToggleAll: () => undefined, label: ({ name }) => `Select ${name}`, allLabel: 'Select all' };
}

withBrowser();
beforeEach(() => void drawn.mockReset());

test('of a new answer only the rows that say something else are drawn', () => {
  const { rerender } = render(table(rows()));
  drawn.mockClear();
  rerender(table(rows('blue')));
  expect(drawn.mock.calls.flat()).toEqual(['b']);
  expect(screen.getByRole('row', { name: 'b blue' })).toBeTruthy();
});

test('picking a row draws that one alone, and the newest way to pick is taken', () => {
  const { rerender } = render(table(rows(), picking([])));
  drawn.mockClear();
  const toggled = vi.fn();
  rerender(table(rows(), picking(['a'], toggled)));
  expect(drawn.mock.calls.flat()).toEqual(['a']);
  expect(screen.getByRole('checkbox', { name: 'Select a' })).toHaveProperty('checked', true);
  fireEvent.click(screen.getByRole('checkbox', { name: 'Select b' }), { shiftKey: true });
  expect(toggled).toHaveBeenCalledWith(expect.objectContaining({ name: 'b' }), true);
  expect(screen.queryByRole('checkbox', { name: 'Select c' })).toBeNull();
});
