import { expect, test } from 'vitest';
import { editWarnings } from './edit-warnings';

const shared = { algorithm: 'token_bucket', partition: 'shared', shards: 1 } as const;
const keyed = { ...shared, partition: 'key' } as const;
const slots = { ...shared, algorithm: 'concurrency' } as const;

test('an edit that starts the counts anew, or makes callers misuse, is warned of', () => {
  expect(editWarnings(shared, shared)).toEqual([]);
  expect(editWarnings(shared, { ...shared, algorithm: 'sliding_log' })).toEqual(['anew']);
  expect(editWarnings(shared, { ...shared, partition: 'app' })).toEqual(['anew']);
  expect(editWarnings(keyed, { ...keyed, shards: 8 })).toEqual(['anew']);
  expect(editWarnings(shared, keyed)).toEqual(['anew', 'needsKey']);
  expect(editWarnings(keyed, { ...keyed, partition: 'app_key' })).toEqual(['anew']);
  expect(editWarnings(keyed, shared)).toEqual(['anew']);
  expect(editWarnings(shared, slots)).toEqual(['anew', 'needsEnter']);
  expect(editWarnings(slots, { ...slots, partition: 'key' })).toEqual(['anew', 'needsKey']);
  expect(editWarnings(slots, shared)).toEqual(['anew', 'needsAcquire']);
});
