import 'uplot/dist/uPlot.min.css';
import { Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { memo, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import uPlot from 'uplot';
import { formatNumber } from '@/lib/format/numbers';
import { absoluteTime } from '@/lib/format/time';
import { useScheme } from '@/lib/scheme';
import { useZone } from '@/lib/zone';
import { chartData, chartOptions, palette, type Span } from './chart-options';
import { noSamples, type Revised, type Samples } from './series';

const height = 260; // px

interface LiveChartProps {
  samples: Samples;
  /** The length of the range in seconds. */
  seconds: number;
  revised: readonly Revised[];
  zoom: Span | null;
  onZoom: (span: Span) => void;
}

/** Draws the samples; anew only when something of it changed. Everything that it shows stands in words beside it, so it is hidden from screen readers. */
export const LiveChart = memo(function LiveChart({ samples, seconds, revised, zoom, onZoom }: LiveChartProps) {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  const scheme = useScheme();
  const { ref, width } = useElementSize();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [point, setPoint] = useState<number | null>(null);
  const markers = useMemo(() => revised.map(({ at, revision }) => ({ at, label: t('live.marker', { revision }) })), [revised, t]);
  // It draws before the browser paints what stands around it, so that both are one frame.
  // What the chart asks for while it draws; it is made anew only when its looks change.
  const latest = useRef({ zoom, markers, onZoom });
  useLayoutEffect(() => {
    latest.current = { zoom, markers, onZoom };
  });

  useLayoutEffect(() => {
    if (box.current === null || width === 0) return;
    const options = chartOptions({
      width,
      height,
      seconds,
      zone,
      language: i18n.language,
      colors: palette[scheme],
      zoom: () => latest.current.zoom,
      markers: () => latest.current.markers,
      onZoom: (span) => latest.current.onZoom(span),
      onPoint: setPoint,
    });
    const chart = new uPlot(options, chartData(noSamples, seconds), box.current);
    plot.current = chart;
    return () => chart.destroy();
  }, [width, i18n.language, scheme, seconds, zone]);

  // Also after the chart was made anew.
  useLayoutEffect(
    () => plot.current?.setData(chartData(samples, seconds)),
    [samples, markers, zoom, width, i18n.language, scheme, seconds, zone],
  );

  return (
    <div aria-hidden>
      <div ref={ref} style={{ minHeight: height }}>
        {/* Of a size of its own: what is drawn in it lays out nothing around it. */}
        <div ref={box} style={{ height, contain: 'strict' }} />
      </div>
      <PointLine at={value(samples.at, point)} granted={value(samples.granted, point)} limited={value(samples.limited, point)} />
    </div>
  );
});

function value(column: Float64Array, point: number | null): number {
  return point === null ? NaN : (column[point] ?? NaN);
}

interface Point {
  at: number;
  granted: number;
  limited: number;
}

/** Says what is under the pointer; keeps its room where that is nothing. */
const PointLine = memo(function PointLine(point: Point) {
  return (
    <Text size="xs" c="dimmed" h={18} ta="end" style={{ fontVariantNumeric: 'tabular-nums' }}>
      {!Number.isNaN(point.at) && <PointText {...point} />}
    </Text>
  );
});

function PointText({ at, granted, limited }: Point) {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  const number = (value: number) => formatNumber(value, i18n.language, 1);
  if (Number.isNaN(granted)) return t('live.gap');
  return (
    <>
      {absoluteTime(new Date(at * 1000), i18n.language, zone)} · {t('live.granted')} {number(granted)} · {t('live.limited')} {number(limited)}{' '}
      {t('live.perSecond')}
    </>
  );
}
