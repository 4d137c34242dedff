import { useSyncExternalStore } from 'react';

// Whether an answer of the server has been waited for so long that it should be said.

const patience = 5_000; // ms
let overdue = 0;
const listeners = new Set<() => void>();

function count(by: number): void {
  overdue += by;
  listeners.forEach((listener) => listener());
}

/** Watches how long a request takes; its outcome is handed on. */
export async function timed<T>(request: Promise<T>): Promise<T> {
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    count(1);
  }, patience);
  try {
    return await request;
  } finally {
    clearTimeout(timer);
    if (late) count(-1);
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** True while a request is overdue. */
export function useSlow(): boolean {
  return useSyncExternalStore(subscribe, () => overdue > 0);
}
