// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { createMemoryRouter, RouterProvider, useSearchParams } from 'react-router';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useUrlSet, useUrlText } from './url-state';

function Page() {
  const [params] = useSearchParams();
  const text = useUrlText('search');
  const set = useUrlSet();
  return (
    <>
      <input aria-label="search" value={text.value} onChange={(event) => text.onChange(event.target.value)} />
      <button onClick={() => set({ search: '' })}>clear</button>
      <output>{params.toString()}</output>
    </>
  );
}

const input = () => screen.getByLabelText<HTMLInputElement>('search');
const url = () => screen.getByRole('status').textContent;

beforeEach(() => {
  vi.useFakeTimers();
  const router = createMemoryRouter([{ path: '/', element: <Page /> }], { initialEntries: ['/?search=old&cursor=c1'] });
  render(<RouterProvider router={router} />);
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test('a text typed fast loses no character, and reaches the URL once, after a pause', () => {
  expect(input().value).toBe('old');
  for (const typed of ['p', 'pa', 'par', 'part']) {
    fireEvent.change(input(), { target: { value: typed } });
    act(() => void vi.advanceTimersByTime(50));
    expect(input().value).toBe(typed);
    expect(url()).toBe('search=old&cursor=c1');
  }
  act(() => void vi.advanceTimersByTime(300));
  expect(input().value).toBe('part');
  // Another search starts at its first page.
  expect(url()).toBe('search=part');
});

test('a filter cleared elsewhere empties the input', () => {
  fireEvent.click(screen.getByText('clear'));
  expect(input().value).toBe('');
  expect(url()).toBe('');
});
