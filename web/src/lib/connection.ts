import { useSyncExternalStore } from 'react';

// Whether the server could be reached by the last request. While it cannot, a small request asks again and again.

const retryEvery = 2_000; // ms
let lost = false;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Tells the outcome of a request: whether it reached the server. */
export function reached(ok: boolean): void {
  if (lost === !ok) return;
  lost = !ok;
  if (lost) timer = setTimeout(probe, retryEvery);
  else clearTimeout(timer);
  listeners.forEach((listener) => listener());
}

async function probe(): Promise<void> {
  try {
    await fetch('/healthz', { cache: 'no-store' });
    reached(true);
  } catch {
    timer = setTimeout(probe, retryEvery);
  }
}

// The browser knows at once that the network is gone; whether the server is back, only a request tells.
window.addEventListener('offline', () => reached(false));

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** True while the server cannot be reached. */
export function useConnectionLost(): boolean {
  return useSyncExternalStore(subscribe, () => lost);
}

export function isLost(): boolean {
  return lost;
}
