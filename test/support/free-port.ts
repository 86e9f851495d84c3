import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports below those that systems lend by themselves, so that none is lent to another between here and its use. */
const FIRST = 10_000;
const COUNT = 20_000;

/** A port of this machine that nobody listens on, for what must be told its port before it starts or comes back to it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
