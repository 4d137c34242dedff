import { expect, test } from 'vitest';
import { beside } from './markers';

const line = (x: number) => ({ x, width: 40 });

test('a label stands behind its line, at the right end before it, and on no other label', () => {
  expect(beside([line(100), line(200)], 500, 4)).toEqual([104, 204]);
  expect(beside([line(480), line(300)], 500, 4)).toEqual([436, 304]);
  expect(beside([line(300), line(290), line(250), line(340)], 500, 4)).toEqual([304, null, 254, null]);
  expect(beside([line(470), line(425)], 500, 4)).toEqual([426, null]);
});
