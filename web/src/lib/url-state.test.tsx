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

/** Shows the page; a change of the URL waits for `arrival`. */
function show(arrival?: Promise<null>) {
  const loading = arrival && { loader: () => arrival, HydrateFallback: () => null };
  const router = createMemoryRouter([{ path: '/', element: <Page />, ...loading }], {
    initialEntries: ['/?search=old&cursor=c1'],
    hydrationData: { loaderData: { '0': null } },
  });
  render(<RouterProvider router={router} />);
}

beforeEach(() => void vi.useFakeTimers());

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test('a text typed fast loses no character, and reaches the URL once, after a pause', () => {
  show();
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
  show();
  fireEvent.click(screen.getByText('clear'));
  expect(input().value).toBe('');
  expect(url()).toBe('');
});

test('letters typed while the URL follows late are kept, and the URL gets there', async () => {
  let arrive: (value: null) => void = () => undefined;
  show(new Promise((resolve) => (arrive = resolve)));
  for (const typed of ['p', 'pa', 'par']) {
    fireEvent.change(input(), { target: { value: typed } });
    await act(() => vi.advanceTimersByTimeAsync(300)); // each is written to the URL, and none is there yet
    expect(input().value).toBe(typed);
  }
  expect(url()).toBe('search=old&cursor=c1');
  fireEvent.change(input(), { target: { value: 'part' } });
  await act(async () => arrive(null));
  expect(input().value).toBe('part');
  expect(url()).toBe('search=par');
  await act(() => vi.advanceTimersByTimeAsync(300));
  expect(url()).toBe('search=part');
});
