import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports below those that systems assign themselves, so that none is assigned to another process before its use. */
const FIRST = 10_000;
const COUNT = 20_000;

/** An unused port of this machine, for anything that must know its port before it starts or restarts. */
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
