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
  const [value, setValue] = useState(fromUrl);
  const [written, setWritten] = useState(fromUrl);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  // The URL changed by other means than this input (back button, a cleared filter): follow it.
  if (fromUrl !== written) {
    setWritten(fromUrl);
    setValue(fromUrl);
  }
  useEffect(() => () => clearTimeout(timer.current), []);

  const onChange = useCallback(
    (typed: string) => {
      setValue(typed);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        setWritten(typed.trim());
        set({ [name]: typed.trim() });
      }, pause);
    },
    [name, set],
  );
  return { value, onChange };
}
