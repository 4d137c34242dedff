import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import uPlot from 'uplot';
import { chartData, chartOptions, palette } from './chart-options';
import type { Sample } from './use-live';

const height = 260; // px

/** Draws the samples. Everything that it shows stands in words beside it, so it is hidden from screen readers. */
export function LiveChart({ samples }: { samples: Sample[] }) {
  const { i18n } = useTranslation();
  const scheme = useComputedColorScheme('light');
  const { ref, width } = useElementSize();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);

  useEffect(() => {
    if (box.current === null || width === 0) return;
    const options = chartOptions({ width, height, language: i18n.language, colors: palette[scheme] });
    const chart = new uPlot(options, chartData([]), box.current);
    plot.current = chart;
    return () => chart.destroy();
  }, [width, i18n.language, scheme]);

  // Also after the chart was made anew.
  useEffect(() => plot.current?.setData(chartData(samples)), [samples, width, i18n.language, scheme]);

  return (
    <div ref={ref} aria-hidden style={{ minHeight: height }}>
      <div ref={box} />
    </div>
  );
}
