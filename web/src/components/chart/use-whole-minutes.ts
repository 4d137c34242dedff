import { useState } from 'react';
import { sameWhole, type Samples } from './series';

/** Minutes that are asked for every few seconds, as others only once one more of them is over: the chart is not drawn in between. */
export function useWholeMinutes(minutes: Samples): Samples {
  const [kept, keep] = useState(minutes);
  if (kept !== minutes && !sameWhole(kept, minutes)) keep(minutes);
  return kept;
}
