import { MutationObserver, QueryClient } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { afterWrite } from './after-write';

const never = () => new Promise<never>(() => undefined);

function write(mutationFn: () => Promise<string>, readAgain: () => Promise<unknown>) {
  return new MutationObserver(new QueryClient(), { mutationFn, onSettled: afterWrite(readAgain) });
}

test('a failed write is told although what it touched cannot be read again', async () => {
  let read = 0;
  const failing = write(() => Promise.reject(new Error('refused')), () => {
    read++;
    return never();
  });
  await expect(failing.mutate()).rejects.toThrow('refused');
  expect(failing.getCurrentResult().status).toBe('error');
  expect(read).toBe(1);
});

test('a write that went well waits until what it touched has been read again', async () => {
  let arrive: (value?: unknown) => void = () => undefined;
  const saved = write(() => Promise.resolve('saved'), () => new Promise((resolve) => (arrive = resolve)));
  const answer = saved.mutate();
  await expect.poll(() => saved.getCurrentResult().status).toBe('pending');
  arrive();
  await expect(answer).resolves.toBe('saved');
});
