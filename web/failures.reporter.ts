import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase, TestResult } from '@playwright/test/reporter';

const lines = 12; // of an error: what was expected, what came, and where

/** Keeps the failed tests with the beginning of their errors in a file, so that they can be told after all the logs. */
export default class Failures implements Reporter {
  private readonly failed: string[] = [];

  constructor(private readonly options: { file: string }) {
    rmSync(options.file, { force: true });
  }

  onTestEnd(test: TestCase, result: TestResult) {
    if (test.ok()) return;
    const text = result.errors.map((e) => stripVTControlCharacters(e.message ?? String(e.value))).join('\n');
    const begin = text.split('\n').slice(0, lines).map((l) => `    ${l}`);
    this.failed.push([test.titlePath().filter(Boolean).join(' › '), ...begin].join('\n'));
  }

  onEnd() {
    if (this.failed.length === 0) return;
    mkdirSync(dirname(this.options.file), { recursive: true });
    writeFileSync(this.options.file, `${this.failed.join('\n')}\n`);
  }
}
