import type uPlot from 'uplot';

/** An instant at which the definition changed. */
export interface Marker {
  at: number;
  label: string;
}

/** Draws a line at each marker that can be seen, newest first, with its label where that has room. */
export function drawMarkers(chart: uPlot, markers: readonly Marker[], color: string): void {
  const { ctx, bbox } = chart;
  const { min, max } = chart.scales.x ?? {};
  const seen = markers.filter(({ at }) => at >= (min ?? 0) && at <= (max ?? 0));
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'left';
  const lines = seen.map(({ at, label }) => ({ x: Math.round(chart.valToPos(at, 'x', true)), width: ctx.measureText(label).width }));
  const labels = beside(lines, bbox.left + bbox.width, 4 * devicePixelRatio);
  lines.forEach(({ x }, index) => {
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const from = labels[index];
    if (typeof from === 'number') ctx.fillText(seen[index]?.label ?? '', from, bbox.top + 10 * devicePixelRatio);
  });
  ctx.restore();
}

interface Line {
  x: number;
  /** Of its label. */
  width: number;
}

/** Where the label of each line begins: behind it, or before it at the right end; null where it would stand on an earlier one. All in px. */
export function beside(lines: readonly Line[], right: number, gap: number): (number | null)[] {
  const taken: [from: number, to: number][] = [];
  return lines.map(({ x, width }) => {
    const from = x + gap + width < right ? x + gap : x - gap - width;
    const to = from + width;
    if (taken.some((other) => from < other[1] + gap && to + gap > other[0])) return null;
    taken.push([from, to]);
    return from;
  });
}
