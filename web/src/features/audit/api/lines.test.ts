import { expect, test } from 'vitest';
import { linesOf } from './lines';

const bytes = new TextEncoder().encode('{"a":"é"}\n{"b":2}\n{"half');

test.each([1, 3, 9, 100])('lines come whole, whatever the parts of %i bytes cut through, and a broken last one does not', async (size) => {
  const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size));
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
  const lines: string[] = [];
  for await (const line of linesOf(body)) lines.push(line);
  expect(lines).toEqual(['{"a":"é"}', '{"b":2}']);
});
