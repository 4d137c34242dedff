import { test } from '@playwright/test';

/** One figure that was measured. The smaller, the better. */
export interface Figure {
  /** What was measured. */
  what: string;
  value: number;
  unit: 'ms' | 'KB' | '';
  /** The value may be as great as this. */
  bar: number;
  /** What else is worth knowing. */
  note?: string;
}

const kind = 'figure';

/** Prints a figure of the running part, and hands it to the report. */
export function tell(figure: Figure): void {
  console.log(`  ${line(figure)}`);
  test.info().annotations.push({ type: kind, description: JSON.stringify(figure) });
}

/** The figures among a test's annotations. */
export function figuresOf(annotations: readonly { type: string; description?: string }[]): Figure[] {
  return annotations.filter(({ type }) => type === kind).map(({ description = '' }) => JSON.parse(description) as Figure);
}

/** Tells the median and the greatest of several runs; both are held to the bar. */
export function tellRuns(what: string, values: readonly number[], bar: number, note = ''): void {
  const sorted = [...values].sort((a, b) => a - b);
  const runs = `${values.length} times${note && `, ${note}`}`;
  tell({ what: `${what}, median`, value: sorted[Math.floor(sorted.length / 2)] ?? NaN, unit: 'ms', bar, note: runs });
  tell({ what: `${what}, slowest`, value: sorted.at(-1) ?? NaN, unit: 'ms', bar, note: runs });
}

/** The bucket whose chart is measured: a day of usage by four apps, and traffic now. */
export function watchedBucket(): string {
  return process.env.HEADGATE_BENCH_BUCKET ?? '';
}

/** Whether a figure keeps its bar. */
export function kept({ value, bar }: Figure): boolean {
  return value <= bar;
}

/** A value with its unit. */
export function amount(value: number, unit: string): string {
  return `${value.toFixed(Math.abs(value) < 100 && !Number.isInteger(value) ? 1 : 0)}${unit && ` ${unit}`}`;
}

function line(figure: Figure): string {
  const { what, value, unit, bar, note } = figure;
  return `${kept(figure) ? 'PASS' : 'MISS'}  ${what.padEnd(62)} ${amount(value, unit).padStart(10)}   bar ${amount(bar, unit).padStart(9)}${note ? `   ${note}` : ''}`;
}
