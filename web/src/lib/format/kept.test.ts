import { expect, test, vi } from 'vitest';
import { kept } from './kept';

test('one is made for each set of arguments', () => {
  const make = vi.fn((language: string, digits: number) => ({ language, digits }));
  const get = kept(make);
  expect(get('en', 1)).toBe(get('en', 1));
  expect(get('en', 2)).toEqual({ language: 'en', digits: 2 });
  expect(get('zh', 1)).toEqual({ language: 'zh', digits: 1 });
  expect(make).toHaveBeenCalledTimes(3);
});
