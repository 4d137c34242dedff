// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { absoluteTime, relativeTime } from './time';

const now = new Date('2026-11-21T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);

test('recent instants are told relatively, in the language', () => {
  expect(relativeTime(ago(0), now, 'en')).toBe('now');
  expect(relativeTime(ago(59), now, 'en')).toBe('59 seconds ago');
  expect(relativeTime(ago(61), now, 'en')).toBe('1 minute ago');
  expect(relativeTime(ago(2 * 86_400), now, 'en')).toBe('2 days ago');
  expect(relativeTime(ago(180), now, 'zh-CN')).toBe('3分钟前');
});

test('what happened now by a clock that is a little ahead is told as now, and what is to come as that', () => {
  expect(relativeTime(ago(-3), now, 'en')).toBe('now');
  expect(relativeTime(ago(-40), now, 'en')).toBe('in 40 seconds');
});

test('instants older than a week are told as dates', () => {
  expect(relativeTime(ago(8 * 86_400), now, 'en')).toContain('2026');
});

test('the absolute form names the zone', () => {
  expect(absoluteTime(now, 'en')).toMatch(/2026.*(UTC|GMT|[A-Z]{3,4})/);
});

test('the absolute form follows the chosen zone', () => {
  expect(absoluteTime(now, 'en', 'UTC')).toMatch(/12:00:00.*UTC/);
});
