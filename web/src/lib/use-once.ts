import { useState } from 'react';

/**
 * What a dialog shows once, such as a secret: it is forgotten when the dialog is closed, in whatever way, so that neither a
 * way back nor another opening shows it again.
 */
export function useOnce<T>(opened: boolean): [T | null, (shown: T) => void] {
  const [shown, setShown] = useState<T | null>(null);
  if (!opened && shown !== null) setShown(null);
  return [opened ? shown : null, setShown];
}
