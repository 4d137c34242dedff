// @vitest-environment jsdom
import { act, renderHook } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';
import { useScheme } from './scheme';

const mark = 'data-mantine-color-scheme';

afterEach(() => document.documentElement.removeAttribute(mark));

test('what is drawn follows how the page looks', async () => {
  document.documentElement.setAttribute(mark, 'dark');
  const { result } = renderHook(useScheme);
  expect(result.current).toBe('dark');
  await act(async () => document.documentElement.setAttribute(mark, 'light'));
  expect(result.current).toBe('light');
});
