import type uPlot from 'uplot';
import { kept } from '@/lib/format/kept';
import { zoneOption, type Zone } from '@/lib/zone';
import { svgLines, undrawn } from './lines';
import type { Sample } from './series';

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

/** An instant at which the definition changed. */
export interface Marker {
  at: number;
  label: string;
}

/** The samples as uPlot's columns: time, granted, limited (in shadow mode: would have been), limit. */
export function chartData(samples: readonly Sample[], seconds: number): uPlot.AlignedData {
  if (samples.length === 0) return emptyData(Date.now() / 1000, seconds);
  return [
    samples.map((s) => s.at),
    samples.map((s) => (s.gap ? null : s.granted)),
    samples.map((s) => (s.gap ? null : s.limited + s.shadowLimited)),
    samples.map((s) => (s.gap ? null : s.limit)),
  ];
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
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false }, dblclick: undefined } as uPlot.Cursor,
    scales: {
      x: { time: true, range: (_u, _min, max) => { const [from, to] = zoom() ?? window(max, seconds); return [from, to]; } },
      y: { range: (_u, _min, max) => [0, Math.max(1, (max ?? 0) * 1.15)] },
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
      draw: [(chart) => drawMarkers(chart, given.markers(), colors)],
      setCursor: [(chart) => given.onPoint(chart.cursor.left !== undefined && chart.cursor.left >= 0 ? (chart.cursor.idx ?? null) : null)],
      setSelect: [(chart) => selected(chart, given.onZoom)],
    },
  };
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

function drawMarkers(chart: uPlot, markers: readonly Marker[], colors: Colors): void {
  const { ctx, bbox } = chart;
  const { min = 0, max = 0 } = chart.scales.x ?? {};
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colors.marker;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  for (const { at, label } of markers) {
    if (at < (min ?? 0) || at > (max ?? 0)) continue;
    const x = Math.round(chart.valToPos(at, 'x', true));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const room = x + ctx.measureText(label).width + 8 < bbox.left + bbox.width;
    ctx.textAlign = room ? 'left' : 'right';
    ctx.fillText(label, x + (room ? 4 : -4) * devicePixelRatio, bbox.top + 10 * devicePixelRatio);
  }
  ctx.restore();
}
