import { reached } from '@/lib/connection';
import { api } from './client';
import type { components } from './schema.gen';

export type StreamSample = components['schemas']['StreamSample'];
export type StreamBucket = components['schemas']['StreamBucket'];
export type StreamAppSample = components['schemas']['StreamAppSample'];
export type StreamRates = components['schemas']['StreamRates'];

export interface StreamHandlers<Sample> {
  onSample: (sample: Sample) => void;
  /** A bucket has a new revision. */
  onChanged?: (name: string, revision: number) => void;
  /** A bucket or the app was deleted or may not be seen any more; it is not streamed further. */
  onGone?: (name: string) => void;
  /** Nothing comes at the moment; it is tried again. */
  onBroken?: () => void;
}

const retryAfter = 2_000; // ms
const silence = 6_000; // ms; a sample comes every second, so after this the connection is dead

/** Follows buckets by server-sent events until the returned function is called, over every interruption. */
export function openStream(names: readonly string[], handlers: StreamHandlers<StreamSample>): () => void {
  return follow(`buckets=${encodeURIComponent(names.join(','))}`, handlers);
}

/** Follows an app as openStream does buckets. */
export function openAppStream(app: string, handlers: StreamHandlers<StreamAppSample>): () => void {
  return follow(`app=${encodeURIComponent(app)}`, handlers);
}

function follow<Sample>(query: string, handlers: StreamHandlers<Sample>): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  function alive() {
    clearTimeout(watchdog);
    watchdog = setTimeout(again, silence);
  }

  function open() {
    if (closed) return;
    source = new EventSource(`/api/v1/stream?${query}`);
    alive();
    source.onopen = () => reached(true);
    source.onerror = () => again();
    source.addEventListener('sample', (event) => {
      alive();
      handlers.onSample(JSON.parse(event.data as string) as Sample);
    });
    source.addEventListener('changed', (event) => {
      const { name, revision } = JSON.parse(event.data as string) as { name: string; revision: number };
      handlers.onChanged?.(name, revision);
    });
    source.addEventListener('gone', (event) => handlers.onGone?.((JSON.parse(event.data as string) as { name: string }).name));
    source.addEventListener('end', (event) => {
      const { reason } = JSON.parse(event.data as string) as { reason: string };
      if (reason === 'gone') stop();
      else again();
    });
  }

  // The browser would try again by itself, but not after a refusal: an ordinary request renews the session, or finds
  // out that it has ended or that the server is away, and tells the whole console.
  function again() {
    source?.close();
    handlers.onBroken?.();
    clearTimeout(watchdog);
    clearTimeout(timer);
    timer = setTimeout(() => {
      void api
        .GET('/api/v1/auth/me')
        .catch(() => undefined)
        .finally(open);
    }, retryAfter);
  }

  function stop() {
    closed = true;
    clearTimeout(watchdog);
    clearTimeout(timer);
    source?.close();
  }

  open();
  return stop;
}
