import type uPlot from 'uplot';
import { kept } from '@/lib/format/kept';
import { zoneOption, type Zone } from '@/lib/zone';
import { highest, svgLines, undrawn } from './lines';
import { drawMarkers, type Marker } from './markers';
import type { Samples } from './series';

interface Colors {
  text: string;
  grid: string;
  granted: string;
  grantedFill: string;
  limited: string;
  limit: string;
  marker: string;
}

export const palette: Record<'light' | 'dark', Colors> = {
  light: { text: '#4a525b', grid: '#e3e7ec', granted: '#1859b8', grantedFill: '#1859b822', limited: '#c2410c', limit: '#4a525b', marker: '#7e22ce' },
  dark: { text: '#b8bec6', grid: '#33373e', granted: '#6aa1ec', grantedFill: '#6aa1ec2a', limited: '#f59e5b', limit: '#b8bec6', marker: '#c4a0f0' },
};

/** A part of the time axis, in seconds since 1970. */
export type Span = readonly [from: number, to: number];

/** The samples as uPlot's columns: time, granted, limited (in shadow mode: would have been), limit. */
export function chartData({ at, granted, limited, limit }: Samples, seconds: number): uPlot.AlignedData {
  return at.length === 0 ? emptyData(Date.now() / 1000, seconds) : [at, granted, limited, limit];
}

/** Two instants without values: uPlot draws no axes for no data at all, and the page would show a hole. */
function emptyData(now: number, seconds: number): uPlot.AlignedData {
  return [
    [now - seconds, now],
    [null, null],
    [null, null],
    [null, null],
  ];
}

export interface ChartLooks {
  width: number;
  height: number;
  language: string;
  zone: Zone;
  colors: Colors;
  /** The length of the range in seconds. */
  seconds: number;
  zoom: () => Span | null;
  markers: () => readonly Marker[];
  onZoom: (span: Span) => void;
  onPoint: (index: number | null) => void;
}

const shortest = 10; // s; a narrower selection is a slip of the hand

/** The chart's looks. uPlot writes English by default, so every text goes through Intl; its legend is our own. */
export function chartOptions(given: ChartLooks): uPlot.Options {
  const { width, height, language, colors, seconds, zoom } = given;
  const number = new Intl.NumberFormat(language, { notation: 'compact' });
  const axis = { stroke: colors.text, grid: { stroke: colors.grid, width: 1 }, ticks: { show: false } };
  return {
    width,
    height,
    legend: { show: false },
    // Where it sets the axis's marks, at full hours and at the begin of days, which are others in another zone.
    ...(given.zone === 'UTC' && { tzDate: asUTC }),
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false }, dblclick: undefined } as uPlot.Cursor,
    scales: {
      x: { time: true, range: (_u, _min, max) => { const [from, to] = zoom() ?? window(max, seconds); return [from, to]; } },
      y: { range: (chart) => [0, Math.max(1, highest(chart) * 1.15)] },
    },
    axes: [
      { ...axis, space: 90, size: 30, values: (_u, times) => axisTimes(times, given) },
      { ...axis, size: 56, values: (_u, values) => values.map((value) => number.format(value)) },
    ],
    series: [{}, undrawn, undrawn, undrawn],
    plugins: [
      svgLines([
        { stroke: colors.granted, width: 2, fill: colors.grantedFill },
        { stroke: colors.limited, width: 2, dash: '2 3' },
        { stroke: colors.limit, width: 1.5, dash: '8 5' },
      ]),
    ],
    hooks: {
      draw: [(chart) => drawMarkers(chart, given.markers(), colors.marker)],
      setCursor: [(chart) => given.onPoint(chart.cursor.left !== undefined && chart.cursor.left >= 0 ? (chart.cursor.idx ?? null) : null)],
      setSelect: [(chart) => selected(chart, given.onZoom)],
    },
  };
}

/** A date whose local hours and days are those of UTC at an instant. */
function asUTC(second: number): Date {
  const at = new Date(second * 1000);
  return new Date(at.getTime() + at.getTimezoneOffset() * 60_000);
}

function window(max: number | null, seconds: number): Span {
  const to = max || Date.now() / 1000;
  return [to - seconds, to];
}

const axisTime = kept(
  (language: string, zone: Zone, finest: 'day' | 'minute' | 'second') =>
    new Intl.DateTimeFormat(language, {
      ...zoneOption(zone),
      ...(finest === 'day'
        ? { month: 'short', day: 'numeric' }
        : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(finest === 'second' ? { second: '2-digit' } : {}) }),
    }),
);

function axisTimes(times: readonly number[], { language, zone, seconds, zoom }: ChartLooks): string[] {
  const [from, to] = zoom() ?? [0, seconds];
  const shown = to - from;
  const format = axisTime(language, zone, shown > 2 * 86_400 ? 'day' : shown > 900 ? 'minute' : 'second');
  return times.map((time) => format.format(time * 1000));
}

function selected(chart: uPlot, onZoom: (span: Span) => void): void {
  const { left, width } = chart.select;
  if (width <= 0) return;
  const span: Span = [chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x')];
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  if (span[1] - span[0] >= shortest) onZoom(span);
}
