import { createContext, use, type Context, type ReactNode } from 'react';
import type { useChart } from './use-chart';

type Chart = ReturnType<typeof useChart>;

const contexts: { [part in keyof Chart]: Context<Chart[part] | null> } = {
  view: createContext<Chart['view'] | null>(null),
  live: createContext<Chart['live'] | null>(null),
  used: createContext<Chart['used'] | null>(null),
  drawn: createContext<Chart['drawn'] | null>(null),
  changed: createContext<Chart['changed'] | null>(null),
};

/** Shows the parts of a bucket's chart to what stands in it. */
export function ChartShown({ chart, children }: { chart: Chart; children: ReactNode }) {
  const { view, live, used, drawn, changed } = contexts;
  return (
    <view.Provider value={chart.view}>
      <live.Provider value={chart.live}>
        <used.Provider value={chart.used}>
          <drawn.Provider value={chart.drawn}>
            <changed.Provider value={chart.changed}>{children}</changed.Provider>
          </drawn.Provider>
        </used.Provider>
      </live.Provider>
    </view.Provider>
  );
}

/** A part of what the chart shows. A sample comes every second, so only what it changes asks for it, and the page around is drawn once. */
export function useShown<Part extends keyof Chart>(part: Part): Chart[Part] {
  const shown = use(contexts[part]);
  if (shown === null) throw new Error('useShown outside of ChartShown');
  return shown;
}
