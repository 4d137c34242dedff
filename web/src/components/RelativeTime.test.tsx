// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/react';
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { RelativeTime } from './RelativeTime';

beforeAll(() => i18next.use(initReactI18next).init({ lng: 'en', resources: {} }));
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test('an instant that has just changed is told by the clock of then, not by that of the first look', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime('2026-11-21T12:00:00Z');
  const { rerender } = render(<RelativeTime at="2026-11-21T11:00:00Z" />);
  expect(screen.getByText('1 hour ago')).toBeTruthy();

  vi.setSystemTime('2026-11-21T12:00:20Z');
  rerender(<RelativeTime at="2026-11-21T12:00:20Z" />);
  expect(screen.getByText('now')).toBeTruthy();
});
