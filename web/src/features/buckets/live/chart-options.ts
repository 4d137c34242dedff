import type uPlot from 'uplot';
import type { Sample } from './use-live';

interface Colors {
  text: string;
  grid: string;
  granted: string;
  grantedFill: string;
  limited: string;
  limit: string;
}

export const palette: Record<'light' | 'dark', Colors> = {
  light: { text: '#4a525b', grid: '#e3e7ec', granted: '#1859b8', grantedFill: '#1859b822', limited: '#c2410c', limit: '#4a525b' },
  dark: { text: '#b8bec6', grid: '#33373e', granted: '#6aa1ec', grantedFill: '#6aa1ec2a', limited: '#f59e5b', limit: '#b8bec6' },
};

/** The samples as uPlot's columns: time, granted, limited (in shadow mode: would have been), limit. */
export function chartData(samples: readonly Sample[]): uPlot.AlignedData {
  if (samples.length === 0) return emptyData(Date.now() / 1000);
  return [
    samples.map((s) => s.at),
    samples.map((s) => s.granted),
    samples.map((s) => s.limited + s.shadowLimited),
    samples.map((s) => s.limit),
  ];
}

const windowSeconds = 120;

/** Two instants without values: uPlot draws no axes for no data at all, and the page would show a hole. */
function emptyData(now: number): uPlot.AlignedData {
  return [
    [now - windowSeconds, now],
    [null, null],
    [null, null],
    [null, null],
  ];
}

/** The chart's looks. uPlot writes English by default, so every text goes through Intl; its legend is our own. */
export function chartOptions(given: { width: number; height: number; language: string; colors: Colors }): uPlot.Options {
  const { width, height, language, colors } = given;
  const clock = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
  const number = new Intl.NumberFormat(language, { notation: 'compact' });
  const axis = { stroke: colors.text, grid: { stroke: colors.grid, width: 1 }, ticks: { show: false } };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: true, range: (_u, _min, max) => [(max || Date.now() / 1000) - windowSeconds, max || Date.now() / 1000] },
      y: { range: (_u, _min, max) => [0, Math.max(1, (max ?? 0) * 1.15)] },
    },
    axes: [
      { ...axis, space: 90, values: (_u, times) => times.map((time) => clock.format(time * 1000)) },
      { ...axis, size: 56, values: (_u, values) => values.map((value) => number.format(value)) },
    ],
    series: [
      {},
      { stroke: colors.granted, fill: colors.grantedFill, width: 2, points: { show: false } },
      { stroke: colors.limited, width: 2, dash: [2, 3], points: { show: false } },
      { stroke: colors.limit, width: 1.5, dash: [8, 5], points: { show: false } },
    ],
  };
}
