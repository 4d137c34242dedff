import { useCallback, useMemo, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { useUrlSet } from '@/lib/url-state';
import type { Span } from './chart-options';
import { ranges, rangeSeconds, type Range } from './series';

/** Which time a chart shows. The range is in the URL; the zoom is a look at what is drawn, and is not. */
export function useRangeView() {
  const [params] = useSearchParams();
  const set = useUrlSet();
  const [paused, setPaused] = useState(false);
  const [zoom, setZoom] = useState<Span | null>(null);
  const end = useRef(0);
  const range = ranges.find((one) => one === params.get('range')) ?? 'live';
  const seconds = rangeSeconds[range];

  const setRange = useCallback(
    (next: Range) => {
      setZoom(null);
      set({ range: next === 'live' ? '' : next });
    },
    [set],
  );
  const pause = useCallback(
    (next: boolean) => {
      setPaused(next);
      if (!next && range === 'live') setZoom(null);
    },
    [range],
  );
  const look = useCallback(
    (span: Span | null) => {
      const wider = span !== null && span[1] - span[0] >= seconds;
      setZoom(wider ? null : span);
      // A look at a part of what runs on would run away.
      if (range === 'live' && span !== null) setPaused(true);
    },
    [range, seconds],
  );
  /** Says at which second the samples end, for zooming in from the whole range. */
  const setEnd = useCallback((second: number) => {
    end.current = second;
  }, []);
  const zoomBy = useCallback(
    (factor: number) => {
      const [from, to] = zoom ?? [end.current - seconds, end.current];
      const less = ((to - from) * (1 - 1 / factor)) / 2;
      look([from + less, to - less]);
    },
    [zoom, look, seconds],
  );

  // The same from sample to sample, so that the controls need not be drawn again.
  return useMemo(
    () => ({ range, seconds, paused, zoom, setRange, setPaused: pause, setZoom: look, setEnd, zoomBy }),
    [range, seconds, paused, zoom, setRange, pause, look, setEnd, zoomBy],
  );
}
