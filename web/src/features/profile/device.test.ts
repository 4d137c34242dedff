import { expect, test } from 'vitest';
import { deviceOf } from './device';

test('a session is told by the words people use for its program', () => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
  expect(deviceOf(chrome)).toBe('Chrome, Linux');
  expect(deviceOf(`${chrome} Edg/140.0`)).toBe('Edge, Linux');
  expect(deviceOf('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit Version/18.0 Safari/604.1')).toBe('Safari, iOS');
  expect(deviceOf('curl/8.5.0')).toBe('curl/8.5.0');
  expect(deviceOf('')).toBe('');
});
