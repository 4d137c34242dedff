import type uPlot from 'uplot';

/** How a line looks; lengths in px. */
export interface LineLook {
  stroke: string;
  width: number;
  /** Lengths of strokes and gaps, as SVG writes them. */
  dash?: string;
  /** Of the area beneath it. */
  fill?: string;
}

const fine = 10; // parts of a px that points are rounded to; whole numbers are the fastest to write
const none = () => null;

/** A line that uPlot points at, but leaves to `svgLines` to draw and to `highest` to scale: it knows null as a gap, and not NaN. */
export const undrawn: uPlot.Series = { paths: none, points: { show: false }, auto: false };

/** Draws the lines as SVG over uPlot's canvas: a canvas is painted by the page's main thread, SVG by threads of the browser's own. */
export function svgLines(looks: readonly LineLook[]): uPlot.Plugin {
  let drawn: { line: SVGPathElement; area: SVGPathElement | null }[] = [];
  return {
    hooks: {
      init: (chart) => {
        // uPlot heeds only what happens to its own element.
        const svg = svgElement('svg', { width: '100%', height: '100%', display: 'block', 'pointer-events': 'none' });
        const scaled = svgElement('g', { transform: `scale(${1 / fine})`, fill: 'none', 'stroke-linejoin': 'round' });
        drawn = looks.map(({ stroke, width, dash, fill }) => ({
          area: fill === undefined ? null : svgElement('path', { fill }),
          line: svgElement('path', { stroke, 'stroke-width': String(width * fine), 'stroke-dasharray': dash ? scaledDash(dash) : 'none' }),
        }));
        scaled.append(...drawn.flatMap(({ area, line }) => (area ? [area, line] : [line])));
        svg.append(scaled);
        chart.over.prepend(svg);
      },
      draw: (chart) =>
        drawn.forEach(({ line, area }, index) => {
          const traced = trace(chart, index + 1);
          line.setAttribute('d', traced.line);
          area?.setAttribute('d', traced.area);
        }),
    },
  };
}

function svgElement<K extends keyof SVGElementTagNameMap>(name: K, attributes: Record<string, string>): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  return element;
}

function scaledDash(dash: string): string {
  return dash.split(' ').map((length) => Number(length) * fine).join(' ');
}

/** The greatest value that can be seen of any line; 0 where there is none. */
export function highest(chart: Pick<uPlot, 'data' | 'series'>): number {
  const [first, last] = chart.series[0]?.idxs ?? [0, chart.data[0].length - 1];
  let found = 0;
  for (const values of chart.data.slice(1)) {
    for (let i = first; i <= last; i++) {
      const value = values[i];
      if (typeof value === 'number' && value > found) found = value;
    }
  }
  return found;
}

/** The paths of a series as far as it can be seen: its line, with a gap where there is no value, and the area beneath. */
export function trace(chart: Pick<uPlot, 'data' | 'series' | 'scales' | 'bbox'>, series: number): { line: string; area: string } {
  const [times, values = []] = [chart.data[0], chart.data[series]];
  const [x, y] = [pixels(chart, 'x'), pixels(chart, 'y')];
  const [first, last] = chart.series[0]?.idxs ?? [0, times.length - 1];
  const bottom = y(0);
  let [line, area] = ['', ''];
  let run: number[] = []; // x and y of each point; joined at once, since thousands of short texts are thousands to forget
  const close = () => {
    if (run.length === 0) return;
    const path = `M${run.join(' ')}`;
    line += path;
    area += `${path}V${bottom}H${run[0]}Z`;
    run = [];
  };
  // One more at each side, so that the line leads out of what is seen.
  for (let i = Math.max(0, first - 1); i <= Math.min(times.length - 1, last + 1); i++) {
    const value = values[i];
    if (value === null || value === undefined || Number.isNaN(value)) close();
    // What stays the same needs no points between its first and its last.
    else if (run.length === 0 || value !== values[i - 1] || value !== values[i + 1]) run.push(x(times[i] ?? 0), y(value));
  }
  close();
  return { line, area };
}

/** Places a value of a scale, in parts of a px. */
function pixels(chart: Pick<uPlot, 'scales' | 'bbox'>, key: 'x' | 'y'): (value: number) => number {
  const { min, max } = chart.scales[key] ?? {};
  const [from, to] = [min ?? 0, max ?? 1];
  const length = ((key === 'x' ? chart.bbox.width : chart.bbox.height) / devicePixelRatio) * fine;
  const scale = length / (to - from);
  return key === 'x' ? (value) => Math.round((value - from) * scale) : (value) => Math.round(length - (value - from) * scale);
}
