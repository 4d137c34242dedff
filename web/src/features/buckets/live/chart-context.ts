import { createContext, use } from 'react';
import type { useChart } from './use-chart';

/** The chart of the bucket that the page is about. */
export const ChartContext = createContext<ReturnType<typeof useChart> | null>(null);

/** What the chart shows. A sample comes every second, so only what it changes asks for it, and the page around is drawn once. */
export function useShownChart() {
  const chart = use(ChartContext);
  if (chart === null) throw new Error('useShownChart outside of a ChartContext');
  return chart;
}
