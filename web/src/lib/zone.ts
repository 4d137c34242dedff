import { useSyncExternalStore } from 'react';

/** In which time zone instants are written: this device's, or UTC. */
export type Zone = 'local' | 'UTC';

export const zones: readonly Zone[] = ['local', 'UTC'];

const storageKey = 'headgate.zone';
const listeners = new Set<() => void>();
let zone = stored();

// What is chosen in one tab is chosen in all.
addEventListener('storage', (event) => {
  if (event.key === storageKey) change(stored());
});

function stored(): Zone {
  return localStorage.getItem(storageKey) === 'UTC' ? 'UTC' : 'local';
}

/** Switches the zone and remembers it in this browser. */
export function setZone(next: Zone): void {
  localStorage.setItem(storageKey, next);
  change(next);
}

function change(next: Zone): void {
  zone = next;
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useZone(): Zone {
  return useSyncExternalStore(subscribe, () => zone);
}

/** What Intl wants to be told about a zone. */
export function zoneOption(given: Zone): { timeZone?: string } {
  return given === 'UTC' ? { timeZone: 'UTC' } : {};
}
