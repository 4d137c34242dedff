import { useState } from 'react';

/** Whether it has been true since the component was mounted: what is loaded for it then stays. */
export function useEver(now: boolean): boolean {
  const [ever, setEver] = useState(now);
  if (now && !ever) setEver(true);
  return ever;
}
