import 'uplot/dist/uPlot.min.css';
import { Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { memo, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import uPlot from 'uplot';
import { formatNumber } from '@/lib/format/numbers';
import { absoluteTime } from '@/lib/format/time';
import { useScheme } from '@/lib/scheme';
import { useZone } from '@/lib/zone';
import { chartData, chartOptions, palette, type Marker, type Span } from './chart-options';
import type { Sample } from './series';

const height = 260; // px

interface LiveChartProps {
  samples: Sample[];
  /** The length of the range in seconds. */
  seconds: number;
  markers: readonly Marker[];
  zoom: Span | null;
  onZoom: (span: Span) => void;
}

/** Draws the samples; anew only when something of it changed. Everything that it shows stands in words beside it, so it is hidden from screen readers. */
export const LiveChart = memo(function LiveChart({ samples, seconds, markers, zoom, onZoom }: LiveChartProps) {
  const { i18n } = useTranslation();
  const zone = useZone();
  const scheme = useScheme();
  const { ref, width } = useElementSize();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [point, setPoint] = useState<number | null>(null);
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
    const chart = new uPlot(options, chartData([], seconds), box.current);
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
      <PointLine sample={point === null ? undefined : samples[point]} />
    </div>
  );
});

/** Says what is under the pointer; keeps its room where that is nothing. */
const PointLine = memo(function PointLine({ sample }: { sample: Sample | undefined }) {
  return (
    <Text size="xs" c="dimmed" h={18} ta="end" style={{ fontVariantNumeric: 'tabular-nums' }}>
      {sample && !sample.gap && <PointText sample={sample} />}
    </Text>
  );
});

function PointText({ sample }: { sample: Sample }) {
  const { t, i18n } = useTranslation();
  const zone = useZone();
  const number = (value: number) => formatNumber(value, i18n.language, 1);
  return (
    <>
      {absoluteTime(new Date(sample.at * 1000), i18n.language, zone)} · {t('live.granted')} {number(sample.granted)} · {t('live.limited')}{' '}
      {number(sample.limited + sample.shadowLimited)} {t('live.perSecond')}
    </>
  );
}
