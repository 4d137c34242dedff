// @vitest-environment jsdom
import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { draw, withBrowser } from '@/lib/testing';
import { Attempts } from './Attempts';

withBrowser();

const attempt = { change_id: 4711, at: '2026-03-01T12:00:00Z', took_ms: 12, status: 204, error: '' };

test('a delivery of several alerts says which changes it told of, one of a single event only its id', async () => {
  await draw(<Attempts attempts={[{ ...attempt, event: 'alerts-4711-4811-2c26b46b68ffc68f' }, { ...attempt, event: 'change-4700-9f86d081884c7d65' }]} />);
  expect(screen.getByText('alerts-4711-4811-2c26b46b68ffc68f')).toBeDefined();
  expect(screen.getByText('Several alerts, from change 4711 to 4811')).toBeDefined();
  expect(screen.getAllByText(/^Several alerts/)).toHaveLength(1);
});
