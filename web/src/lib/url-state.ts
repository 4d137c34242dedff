import { useCallback, useEffect, useReducer, useRef } from 'react';
import { useSearchParams } from 'react-router';

/** Sets or, with "", removes search parameters; a changed filter starts at the first page again. */
export function useUrlSet(): (values: Record<string, string>) => void {
  const [, setParams] = useSearchParams();
  return useCallback(
    (values) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          next.delete('cursor');
          for (const [name, value] of Object.entries(values)) {
            if (value) next.set(name, value);
            else next.delete(name);
          }
          return next;
        },
        { replace: true },
      ),
    [setParams],
  );
}

const pause = 250; // ms without typing before the URL follows

/**
 * A text that lives in the URL. What is typed is kept at hand and written to the URL after a pause: an input bound
 * straight to the URL loses characters when typed fast.
 */
export function useUrlText(name: string): { value: string; onChange: (value: string) => void } {
  const [params] = useSearchParams();
  const set = useUrlSet();
  const fromUrl = params.get(name) ?? '';
  // A reducer, since React works out a state's updater ahead from what an interrupted render left, whose URL is not shown yet.
  const [text, dispatch] = useReducer(step, { value: fromUrl, seen: fromUrl, sent: [] });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  if (fromUrl !== text.seen) dispatch({ seen: fromUrl });
  useEffect(() => () => clearTimeout(timer.current), []);

  const onChange = (typed: string) => {
    dispatch({ typed });
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      dispatch({ sent: typed.trim() });
      set({ [name]: typed.trim() });
    }, pause);
  };
  return { value: text.value, onChange };
}

interface UrlText {
  /** What the input shows. */
  value: string;
  /** What the URL last said. */
  seen: string;
  /** What was written to the URL and has not shown there yet: on a busy machine it takes its time, and typing goes on. */
  sent: readonly string[];
}

type Step = { typed: string } | { sent: string } | { seen: string };

function step(text: UrlText, now: Step): UrlText {
  if ('typed' in now) return { ...text, value: now.typed };
  if ('sent' in now) return now.sent === (text.sent.at(-1) ?? text.seen) ? text : { ...text, sent: [...text.sent, now.sent] };
  // The URL changed: by this input some time ago, or by other means (back button, a cleared filter), which it follows.
  const at = text.sent.indexOf(now.seen);
  return at < 0 ? { value: now.seen, seen: now.seen, sent: [] } : { value: text.value, seen: now.seen, sent: text.sent.slice(at + 1) };
}
