// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { AsOfGlass } from '@/lib/api/types';
import { draw, withBrowser } from '@/lib/testing';
import { AsOfBreakGlass } from './AsOfBreakGlass';

withBrowser();

const show = (covered: AsOfGlass[] | null) => draw(<AsOfBreakGlass covered={covered} />);

test('what break-glass covered is told with who began it and why, as far as that is kept', async () => {
  await show([
    { scope: 'app', app: 'checkout', since: '2026-03-01T12:00:00Z', by: 'root', reason: 'the callee is down' },
    { scope: 'all', app: '', since: null, by: '', reason: '' },
  ]);
  const [one, all] = screen.getAllByRole('listitem');
  expect(one?.textContent).toMatch(/^Calls of checkout · root · the callee is down · ./);
  expect(all?.textContent).toBe('Everything');
});

test('nothing is said where nothing was covered, or the history does not tell', async () => {
  await show([]);
  await show(null);
  expect(screen.queryByRole('alert')).toBeNull();
});
