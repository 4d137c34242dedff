import { connect, createServer, type Server, type Socket } from 'node:net';

/** The line between a browser and the server: it can be cut, and tells how many live streams run over it. */
export class Line {
  private readonly server: Server;
  private readonly pairs = new Set<{ near: Socket; far: Socket; streams: boolean }>();
  private broken = false;

  private constructor(private readonly target: URL) {
    this.server = createServer((near) => this.join(near));
  }

  static async to(url: string): Promise<Line> {
    const line = new Line(new URL(url));
    await new Promise<void>((listening) => line.server.listen(0, line.target.hostname, listening));
    return line;
  }

  /** Where the server is reached through this line. */
  get url(): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('the line is closed');
    return `http://${this.target.hostname}:${address.port}`;
  }

  /** How many live streams are open. */
  get streams(): number {
    return [...this.pairs].filter(({ streams }) => streams).length;
  }

  /** Ends all connections and takes no new ones, as a server does that is restarted. */
  cut(): void {
    this.broken = true;
    for (const { near } of this.pairs) near.destroy();
  }

  mend(): void {
    this.broken = false;
  }

  close(): void {
    this.cut();
    this.server.close();
  }

  private join(near: Socket): void {
    if (this.broken) {
      near.destroy();
      return;
    }
    const far = connect(Number(this.target.port), this.target.hostname);
    const pair = { near, far, streams: false };
    this.pairs.add(pair);
    near.on('data', (chunk: Buffer) => {
      if (chunk.includes('GET /api/v1/stream?')) pair.streams = true;
    });
    near.pipe(far);
    far.pipe(near);
    const end = () => {
      this.pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on('close', end).on('error', end);
  }
}
