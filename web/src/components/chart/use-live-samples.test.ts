// @vitest-environment jsdom
import { act, renderHook } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { useLiveSamples, type Follow, type LiveSecond } from './use-live-samples';

type Second = LiveSecond<string>;

afterEach(() => show('visible'));

/** Has the page believe that its tab is shown, or is not. */
function show(state: 'visible' | 'hidden') {
  Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}

/** A stream that tells what the test says, as long as it is followed. */
function stream() {
  let take: ((second: Second) => void) | undefined;
  let broken: (() => void) | undefined;
  let opened = 0;
  const follow: Follow<string> = (...handlers) => {
    opened += 1;
    [take, broken] = handlers;
    return () => {
      [take, broken] = [undefined, undefined];
    };
  };
  return { follow, opened: () => opened, followed: () => take !== undefined, tell: (second: Second) => act(() => take?.(second)), stop: () => act(() => broken?.()) };
}

const second = (at: number, granted = at, limited = 0): Second => ({
  now: `at ${at}`,
  redisTimeUs: at * 1_000_000,
  rates: { granted, limited, shadow_limited: 2 },
});

function watched() {
  const source = stream();
  const { result, rerender, unmount } = renderHook(({ paused, limit }) => useLiveSamples(source.follow, limit, paused), {
    initialProps: { paused: false, limit: 7 as number | null },
  });
  return { ...source, unmount, state: () => result.current, with: (paused: boolean, limit: number | null = 7) => rerender({ paused, limit }) };
}

test('each second becomes a sample of its own, in order, with what shadow mode would have limited and the limit of then', () => {
  const w = watched();
  w.tell(second(10, 5, 3));
  w.with(false, null);
  w.tell(second(11, 6));
  expect(w.state().samples).toEqual([
    { at: 10, granted: 5, limited: 5, limit: 7 },
    { at: 11, granted: 6, limited: 2, limit: NaN },
  ]);
  expect(w.state()).toMatchObject({ now: 'at 11', last: { at: 11 }, failed: false });
});

test('the last five minutes are kept, however long it is watched', () => {
  const w = watched();
  for (let at = 1; at <= 310; at++) w.tell(second(at));
  expect(w.state().samples.map(({ at }) => at)).toEqual(Array.from({ length: 300 }, (_, n) => n + 11));
});

test('what is not known makes no sample: the first second has no rate, and Redis may not answer', () => {
  const w = watched();
  w.tell({ ...second(1), rates: null });
  expect(w.state()).toEqual({ now: 'at 1', last: null, samples: [], failed: false });
  w.tell(second(2));
  w.tell({ ...second(3), redisTimeUs: null });
  expect(w.state()).toMatchObject({ now: 'at 2', last: { at: 2 }, failed: true });
  w.tell(second(5)); // a gap, and no zero in it
  expect(w.state().samples.map(({ at }) => at)).toEqual([2, 5]);
  expect(w.state().failed).toBe(false);
});

test('a broken stream is told until something comes again, and takes nothing away', () => {
  const w = watched();
  w.tell(second(1));
  w.stop();
  expect(w.state()).toMatchObject({ now: 'at 1', last: { at: 1 }, failed: true });
  w.tell(second(4));
  expect(w.state().failed).toBe(false);
  expect(w.state().samples.map(({ at }) => at)).toEqual([1, 4]);
});

test('a hidden tab follows nothing; shown again it keeps its samples, but calls none of them the present', () => {
  const w = watched();
  w.tell(second(1));
  act(() => show('hidden'));
  expect(w.followed()).toBe(false);
  act(() => show('visible'));
  expect(w.opened()).toBe(2);
  expect(w.state()).toMatchObject({ now: null, last: null });
  expect(w.state().samples.map(({ at }) => at)).toEqual([1]);
  w.tell(second(60));
  expect(w.state()).toMatchObject({ now: 'at 60', last: { at: 60 } });
  expect(w.state().samples.map(({ at }) => at)).toEqual([1, 60]);
});

test('paused it stands still with its last second, and what comes after that is the present again', () => {
  const w = watched();
  w.tell(second(1));
  w.with(true);
  expect(w.followed()).toBe(false);
  expect(w.state()).toMatchObject({ now: 'at 1', last: { at: 1 } });
  w.with(false);
  expect(w.state()).toMatchObject({ now: null, last: null });
  w.unmount();
  expect(w.followed()).toBe(false);
});
