// @vitest-environment jsdom
import { act, renderHook } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Bucket } from '@/lib/api/types';
import { bulkMost } from '@/features/buckets/api/bulk';
import { useSelection } from './use-selection';

const row = (name: string, edit = true) => ({ name, revision: 1, may: { edit, delete: edit } }) as Bucket;
const rows = ['a', 'b', 'c', 'd', 'e'].map((name) => row(name, name !== 'c'));
const at = (index: number) => rows[index] as Bucket;

function selection(scope = '') {
  const { result, rerender } = renderHook(({ s }) => useSelection(s), { initialProps: { s: scope } });
  return { now: () => result.current, names: () => [...result.current.chosen.keys()].sort().join(''), scope: (s: string) => rerender({ s }) };
}

test('shift picks the rows between, but none that may not be edited', () => {
  const s = selection();
  act(() => s.now().toggle(rows, at(1), false));
  act(() => s.now().toggle(rows, at(4), true));
  expect(s.names()).toBe('bde');
  act(() => s.now().toggle(rows, at(3), true));
  expect(s.names()).toBe('b');
});

test('other filters begin with no picks', () => {
  const s = selection('one');
  act(() => s.now().toggleAll(rows, true));
  expect(s.names()).toBe('abde');
  s.scope('two');
  expect(s.names()).toBe('');
});

test('no more are picked than one edit takes', () => {
  const s = selection();
  act(() => s.now().toggleAll(Array.from({ length: bulkMost + 5 }, (_, i) => row(`n${i}`)), true));
  expect(s.now().chosen.size).toBe(bulkMost);
  act(() => s.now().drop(['n0', 'n1']));
  expect(s.now().chosen.size).toBe(bulkMost - 2);
});
