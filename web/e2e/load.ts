import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { loadBinary, redisUrl } from './env';

/** One second of the load driver. */
export interface LoadSecond {
  /** When the line came, by this machine's clock, in ms. */
  at: number;
  granted: number;
  limited: number;
}

/** The load driver in the background: acquires from a bucket and tells every second what it got. */
export class Load {
  readonly seconds: LoadSecond[] = [];
  private readonly process: ChildProcess;

  constructor(app: string, bucket: string, rate: number, duration: string) {
    const args = ['load', '--redis-url', redisUrl(), '--app', app, '--bucket', bucket];
    this.process = spawn(loadBinary(), [...args, '--rate', String(rate), '--duration', duration, '--json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: this.process.stdout! });
    lines.on('line', (line) => {
      const second = parse(line);
      if (second) this.seconds.push(second);
    });
  }

  stop(): void {
    this.process.kill('SIGINT');
  }
}

function parse(line: string): LoadSecond | null {
  try {
    const value = JSON.parse(line) as Record<string, unknown>;
    if (value.type !== 'second' || typeof value.granted !== 'number' || typeof value.limited !== 'number') return null;
    return { at: Date.now(), granted: value.granted, limited: value.limited };
  } catch {
    return null;
  }
}
