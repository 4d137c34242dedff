import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';
import type { FullResult, Reporter, Suite, TestCase, TestResult } from '@playwright/test/reporter';
import { amount, figuresOf, kept, type Figure } from './figures';

interface Part {
  name: string;
  figures: Figure[];
}

// The figures in docs/benchmarks.md stand between these two lines.
const begin = '<!-- console figures: written by make bench-console-docs -->';
const end = '<!-- end of the console figures -->';

/** Prints every figure with its bar, and puts them into the document that HEADGATE_BENCH_PUBLISH names. */
export default class FigureReporter implements Reporter {
  private readonly parts: Part[] = [];
  private readonly started = new Date();
  private readonly load = loadavg();
  private chromium = 'Chromium';

  printsToStdio(): boolean {
    return true;
  }

  onBegin(_config: unknown, suite: Suite): void {
    console.log(`${suite.allTests().length} parts, on ${this.machine()}`);
  }

  onTestBegin(test: TestCase): void {
    console.log(`\n${test.title}`);
  }

  onStdOut(chunk: string | Buffer): void {
    process.stdout.write(chunk);
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    this.chromium = result.annotations.find(({ type }) => type === 'browser')?.description ?? this.chromium;
    this.parts.push({ name: test.title, figures: figuresOf(result.annotations) });
    for (const error of result.errors) console.log(`  NOT MEASURED: ${error.message ?? error.value ?? 'no reason given'}`);
  }

  async onEnd(result: FullResult): Promise<{ status: FullResult['status'] }> {
    const all = this.parts.flatMap(({ figures }) => figures);
    const missed = all.filter((figure) => !kept(figure));
    console.log(`\n${all.length - missed.length} of ${all.length} bars kept. ${this.machine()}${this.busy()}`);
    const document = process.env.HEADGATE_BENCH_PUBLISH;
    if (document && result.status === 'passed') this.publish(document);
    return { status: result.status === 'passed' && missed.length > 0 && process.env.HEADGATE_BENCH_STRICT ? 'failed' : result.status };
  }

  private machine(): string {
    const cores = cpus();
    const load = this.load.map((value) => value.toFixed(2)).join(' ');
    return `${cores[0]?.model ?? process.arch}, ${cores.length} cores, Linux ${release()}, ${this.chromium}; load before: ${load}.`;
  }

  private busy(): string {
    return (this.load[0] ?? 0) > cpus().length / 5 ? ' THIS MACHINE WAS BUSY with other work: times are longer than its own.' : '';
  }

  private publish(document: string): void {
    const old = readFileSync(document, 'utf8');
    const [from, to] = [old.indexOf(begin), old.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`${document} lacks the lines ${begin} and ${end}`);
    const rows = this.parts.flatMap(({ name, figures }) =>
      figures.map((f) => `| ${name} | ${f.what}${f.note ? ` (${f.note})` : ''} | <= ${amount(f.bar, f.unit)} | ${amount(f.value, f.unit)} | ${kept(f) ? 'PASS' : 'MISS'} |`),
    );
    const figures = [
      `Measured on ${this.started.toISOString().slice(0, 10)}: ${this.machine()}${this.busy()}`,
      '',
      '| part | figure | wanted | got | |',
      '|---|---|---|---|---|',
      ...rows,
    ];
    writeFileSync(document, `${old.slice(0, from)}${begin}\n\n${figures.join('\n')}\n\n${old.slice(to)}`);
  }
}
