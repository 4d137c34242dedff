import { use, useEffect, useState } from 'react';
import { MeContext } from '@/lib/api/me';
import { keptForms } from './unsaved';

// What was typed when the session ended, until the same person is back on the same page in the same tab.

const storageKey = 'headgate.drafts';

interface Drafts {
  user: string;
  /** The page, with its search: an open dialog is part of it. */
  path: string;
  forms: { id: string; values: unknown; base?: unknown }[];
}

export interface Draft<T> {
  values: T;
  /** What the edit stood on. */
  base?: unknown;
}

// Never written anywhere, whatever form they are in.
const secrets = /password|secret|current|again/i;

const listeners = new Set<() => void>();

/** Calls listener when a form got its input back; returns the way to stop. */
export function onRestored(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function here(): string {
  return location.pathname + location.search;
}

/** Keeps the input of all open forms for this person. Nothing is kept of secrets. */
export function keepDrafts(user: string): void {
  const kept = keptForms().map((form) => ({ ...form, values: withoutSecrets(form.values) }));
  if (kept.length === 0) return;
  const drafts: Drafts = { user, path: here(), forms: kept };
  sessionStorage.setItem(storageKey, JSON.stringify(drafts));
}

function withoutSecrets(values: unknown): unknown {
  if (typeof values !== 'object' || values === null) return values;
  return Object.fromEntries(Object.entries(values).filter(([name]) => !secrets.test(name)));
}

function stored(): Drafts | null {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Drafts | null;
  } catch {
    return null;
  }
}

/** What this person had typed into a form of this page. */
function findDraft<T>(user: string | undefined, id: string): Draft<Partial<T>> | null {
  const drafts = stored();
  if (drafts === null || drafts.user !== user || drafts.path !== here()) return null;
  return (drafts.forms.find((form) => form.id === id) as Draft<Partial<T>> | undefined) ?? null;
}

/** What was typed into this form before the session ended, to be put into it at its first render. */
export function useDraft<T>(id: string): Draft<Partial<T>> | null {
  const me = use(MeContext);
  const [draft] = useState(() => findDraft<T>(me?.name, id));
  useEffect(() => {
    if (draft === null) return;
    sessionStorage.removeItem(storageKey);
    // Whoever listens may be mounted by the same render, and its effects come after this one.
    queueMicrotask(() => listeners.forEach((listener) => listener()));
  }, [draft]);
  return draft;
}

/** Forgets what another person had typed: called at each login, with who is here now. */
export function dropForeignDrafts(user: string): void {
  if (stored()?.user !== user) sessionStorage.removeItem(storageKey);
}
