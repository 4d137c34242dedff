// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react';
import { beforeEach, expect, test } from 'vitest';
import { draw, withBrowser } from '@/lib/testing';
import { LimitFields } from './LimitFields';
import { useBucketForm } from './use-bucket-form';
import { newValues } from './values';

function Form() {
  const { form } = useBucketForm({ initial: { ...newValues('olivia'), rate: 50, max_permits: 100 }, creating: true, draft: null });
  return <LimitFields form={form} />;
}

const labels = () => screen.getAllByRole('textbox').map((input) => (input as HTMLInputElement).labels?.[0]?.textContent?.replace(' *', ''));
const choose = (name: RegExp) => fireEvent.click(screen.getByRole('radio', { name }));

withBrowser();
beforeEach(() => draw(<Form />));

test('each algorithm asks for its own numbers, by their own names, and says what they come to', () => {
  expect(screen.getByRole('radio', { name: /^Token bucket/ })).toHaveProperty('checked', true);
  expect(labels()).toEqual(['Rate', 'Per', 'Burst (max permits)']);
  expect(screen.getByRole('status').textContent).toContain('50 per 1\u00a0s, burst 100.');

  choose(/^Fixed window/);
  expect(labels()).toEqual(['Permits per period', 'Per']);
  expect(screen.getByRole('status').textContent).toContain('100 in each 1\u00a0s.');

  choose(/^Sliding window/);
  expect(labels()).toEqual(['Permits per period', 'Per']);
  expect(screen.getByRole('status').textContent).toContain('100 in any 1\u00a0s.');

  choose(/^Sliding log/);
  expect(screen.getByRole('status').textContent).toContain('comes back exactly one period later');

  choose(/^Concurrency/);
  expect(labels()).toEqual(['Slots', 'Lease time']);
  expect(screen.getByRole('status').textContent).toContain('100 at a time, lease 30\u00a0s.');
});

test('what was typed is there again when the algorithm comes back', () => {
  choose(/^Concurrency/);
  choose(/^Token bucket/);
  expect(screen.getByRole('status').textContent).toContain('50 per 1\u00a0s, burst 100.');
});
