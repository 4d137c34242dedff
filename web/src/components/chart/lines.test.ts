// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { highest, trace } from './lines';

/** A chart of 10 s by 100, on 10 px by 100 px. */
function chart(values: (number | null)[], idxs: [number, number] = [0, values.length - 1]) {
  return {
    data: [values.map((_, at) => at), values],
    series: [{ idxs }],
    scales: { x: { min: 0, max: 10 }, y: { min: 0, max: 100 } },
    bbox: { left: 0, top: 0, width: 10, height: 100 },
  } as Parameters<typeof trace>[0];
}

test('a line goes through all points and lies over its area', () => {
  expect(trace(chart([10, 20, 15.55]), 1)).toEqual({ line: 'M0 900 10 800 20 845', area: 'M0 900 10 800 20 845V1000H0Z' });
});

test('where there is no value there is no line', () => {
  expect(trace(chart([10, 20, null, 30, 40]), 1)).toEqual({ line: 'M0 900 10 800M30 700 40 600', area: 'M0 900 10 800V1000H0ZM30 700 40 600V1000H30Z' });
  expect(trace(chart([10, 20, NaN, 30, 40]), 1)).toEqual(trace(chart([10, 20, null, 30, 40]), 1));
  expect(trace(chart([null, NaN]), 1)).toEqual({ line: '', area: '' });
});

test('what stays the same is one stroke', () => {
  expect(trace(chart([50, 50, 50, 50, 20, 20, 20]), 1).line).toBe('M0 500 30 500 40 800 60 800');
  expect(trace(chart([50, 50, 50, null]), 1).line).toBe('M0 500 20 500');
});

test('of a part of the range only what leads into it and out of it is drawn', () => {
  expect(trace(chart([1, 2, 3, 4, 5, 6], [2, 3]), 1).line).toBe('M10 980 20 970 30 960 40 950');
});

test('what cannot be seen, and what is not known, lifts no scale', () => {
  expect(highest(chart([9, 2, NaN, null, 3, 8], [1, 4]))).toBe(3);
  expect(highest(chart([NaN, null]))).toBe(0);
});
