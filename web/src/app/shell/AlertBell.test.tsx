// @vitest-environment jsdom
import { cleanup, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { draw, withBrowser } from '@/lib/testing';
import { Bell } from './AlertBell';

withBrowser();

test('the bell says to screen readers the same number that it shows', async () => {
  await draw(<Bell count={200} more />);
  expect(screen.getByText('200+')).toBeDefined();
  expect(screen.getByRole('link', { name: 'Alerts: 200+ open in your buckets' })).toBeDefined();
  cleanup();
  await draw(<Bell count={1} more={false} />);
  expect(screen.getByRole('link', { name: 'Alerts: 1 open in your buckets' })).toBeDefined();
});
