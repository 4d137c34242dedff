import { useCallback, useEffect, useRef, useState } from 'react';
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
  const [text, setText] = useState<UrlText>({ value: fromUrl, seen: fromUrl, sent: [] });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  if (fromUrl !== text.seen) setText(followed(text, fromUrl));
  useEffect(() => () => clearTimeout(timer.current), []);

  const onChange = (typed: string) => {
    setText((before) => ({ ...before, value: typed }));
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setText((before) => sentOff(before, typed.trim()));
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

function sentOff(text: UrlText, written: string): UrlText {
  return written === (text.sent.at(-1) ?? text.seen) ? text : { ...text, sent: [...text.sent, written] };
}

/** The URL changed: by this input some time ago, or by other means (back button, a cleared filter), which it follows. */
function followed({ value, sent }: UrlText, fromUrl: string): UrlText {
  const at = sent.indexOf(fromUrl);
  return at < 0 ? { value: fromUrl, seen: fromUrl, sent: [] } : { value, seen: fromUrl, sent: sent.slice(at + 1) };
}
