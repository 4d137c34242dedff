import { useCallback, useState } from 'react';

const storageKey = 'headgate.bucket-columns-hidden';

function stored(): string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

/** Which columns of the bucket list are hidden; this browser remembers it. New columns are shown until they are hidden. */
export function useHiddenColumns() {
  const [hidden, setHidden] = useState<readonly string[]>(stored);
  const toggle = useCallback(
    (id: string) => {
      const next = hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id];
      localStorage.setItem(storageKey, JSON.stringify(next));
      setHidden(next);
    },
    [hidden],
  );
  return { hidden, toggle };
}
