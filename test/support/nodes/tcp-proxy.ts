/** A TCP proxy that breaks connections on demand, like a network failure. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Cleanup } from '../cleanup.ts';
import { cut } from './cut.ts';

export interface TcpProxy {
  port: number;
  /** Resets every open connection. */
  cut(): void;
  /** While true, resets new connections at once. */
  isDown: boolean;
}

/** Forwards connections to a port of this machine. */
export async function startTcpProxy(cleanup: Cleanup, target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    track(client);
    if (proxy.isDown) return cut(client);
    const upstream = connect(target, '127.0.0.1');
    track(upstream);
    client.pipe(upstream);
    upstream.pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const proxy: TcpProxy = {
    port: address.port,
    isDown: false,
    cut() {
      for (const socket of sockets) cut(socket);
    },
  };
  cleanup.after(async () => {
    const closed = once(server, 'close');
    server.close();
    proxy.cut();
    await closed;
  });
  return proxy;
}
