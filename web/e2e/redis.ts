import { connect } from 'node:net';
import { redisUrl } from './env';

/** Sends a command to the server's own Redis and waits for its answer; an error of Redis is one here. */
export function tellRedis(command: string): Promise<string> {
  const { hostname, port } = new URL(redisUrl());
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(`${command}\r\n`));
    socket.once('data', (data) => {
      socket.destroy();
      const answer = data.toString().trim();
      if (answer.startsWith('-')) reject(new Error(answer));
      else resolve(answer);
    });
    socket.once('error', reject);
  });
}
