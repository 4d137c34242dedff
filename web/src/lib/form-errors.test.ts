import { expect, test } from 'vitest';
import { placeErrors } from './form-errors';

test("the server's field errors find their inputs", () => {
  const { placed, rest } = placeErrors(
    [
      { field: 'max_permits', message: 'must be 1..1,000,000,000, not 0' },
      { field: 'period_ms', message: 'must be 1..2,678,400,000, not 0' },
      { field: 'apps[3]', message: 'is not registered' },
      { field: 'apps[4]', message: 'is not registered too' },
      { field: 'labels.team', message: 'is too long' },
      { field: 'body.rate', message: 'is wrong' },
      { field: 'secret', message: 'is unknown' },
    ],
    ['max_permits', 'period', 'apps', 'labels', 'rate'],
    { period_ms: 'period' },
  );
  expect(placed).toEqual({
    max_permits: 'must be 1..1,000,000,000, not 0',
    period: 'must be 1..2,678,400,000, not 0',
    apps: 'is not registered; is not registered too',
    labels: 'is too long',
    rate: 'is wrong',
  });
  expect(rest).toEqual(['secret: is unknown']);
});
