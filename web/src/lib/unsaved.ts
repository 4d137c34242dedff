import { createContext, use, useEffect, useRef, useSyncExternalStore } from 'react';
import { useEver } from './use-ever';

// Which forms are open, so that what was typed is neither left behind unasked nor lost when the session ends. One
// registry for all of them: a router takes one blocker at a time, and several forms may be on a page.

/** A form that is on the page. */
export interface OpenForm {
  /** Whether it holds something that would be lost. */
  dirty: () => boolean;
  /** What brings it back after a login, under a name that no other form of the page has; null where nothing was typed. */
  keep?: () => { id: string; values: unknown; base?: unknown } | null;
}

const forms = new Set<OpenForm>();

/** The forms of one dialog, so that the dialog can ask before it closes. */
export const FormScope = createContext<Set<OpenForm> | null>(null);

/** Tells that a form is open, as long as its component is there. */
export function useOpenForm(form: OpenForm): void {
  const scope = use(FormScope);
  const latest = useRef(form);
  useEffect(() => {
    latest.current = form;
  });
  useEffect(() => {
    const entry: OpenForm = { dirty: () => latest.current.dirty(), keep: () => latest.current.keep?.() ?? null };
    forms.add(entry);
    scope?.add(entry);
    tellListeners();
    return () => {
      forms.delete(entry);
      scope?.delete(entry);
    };
  }, [scope]);
}

/** Whether a form has been on a page by now: from then on the question about leaving may come. */
export function useFormsSeen(): boolean {
  return useEver(useSyncExternalStore(subscribe, () => forms.size > 0));
}

/** Whether one of these forms, by default of all, holds something that would be lost. */
export function anyDirty(among: ReadonlySet<OpenForm> = forms): boolean {
  return [...among].some((form) => form.dirty());
}

/** What the open forms would be brought back by. */
export function keptForms(): { id: string; values: unknown; base?: unknown }[] {
  return [...forms].flatMap((form) => form.keep?.() ?? []);
}

let question: (() => void) | null = null;
const listeners = new Set<() => void>();

function tellListeners(): void {
  listeners.forEach((listener) => listener());
}

function setQuestion(next: (() => void) | null): void {
  question = next;
  tellListeners();
}

/** Does what would lose input: at once when nothing would be lost, else after the person said so. */
export function leaveAfterAsking(leave: () => void, among?: ReadonlySet<OpenForm>): void {
  if (question !== null) return;
  if (anyDirty(among)) setQuestion(leave);
  else leave();
}

/** Answers the open question. */
export function answerLeave(leave: boolean): void {
  const asked = question;
  setQuestion(null);
  if (leave) decided(() => asked?.());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Whether it is being asked now if input may be lost. */
export function useLeaveQuestion(): boolean {
  return useSyncExternalStore(subscribe, () => question !== null);
}

let deciding = false;

/** Navigates without being asked: what happens to the input has been decided. */
export function decided(navigate: () => void): void {
  deciding = true;
  try {
    navigate(); // the router asks its blocker before it returns
  } finally {
    deciding = false;
  }
}

export function isDecided(): boolean {
  return deciding;
}
