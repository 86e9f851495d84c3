/** A TCP proxy that breaks or falls silent on demand, like a network. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Cleanup } from '../cleanup.ts';
import { cut } from './cut.ts';

export interface TcpProxy {
  port: number;
  url: string;
  /** The connections of clients that have not ended them. */
  clients: ReadonlySet<Socket>;
  /** Resets every open connection. */
  cut(): void;
  /** While true, resets new connections at once. */
  isDown: boolean;
  /** While true, connections stay open, also new ones, and no byte arrives any more. */
  isSilent: boolean;
  /** Falls silent with the first bytes from a client that contain this text; they are not forwarded. */
  silentAt: string | null;
}

/** Forwards connections to a port of this machine. */
export async function startTcpProxy(cleanup: Cleanup, target: number): Promise<TcpProxy> {
  const clients = new Set<Socket>();
  const sockets = new Set<Socket>();
  const track = (socket: Socket, set: Set<Socket>) => {
    set.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => set.delete(socket));
  };
  const forward = (from: Socket, to: Socket, isClient: boolean) => {
    from.on('data', (bytes: Buffer) => {
      if (isClient && proxy.silentAt !== null && bytes.includes(proxy.silentAt)) proxy.isSilent = true;
      if (proxy.isSilent || to.write(bytes)) return;
      from.pause();
      to.once('drain', () => from.resume());
    });
    // The other side learns nothing from a silent network, not even an end.
    from.on('end', () => !proxy.isSilent && to.end());
    from.on('close', () => !proxy.isSilent && to.destroySoon());
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    track(client, clients);
    track(client, sockets);
    client.on('end', () => clients.delete(client));
    if (proxy.isDown) return cut(client);
    if (proxy.isSilent) return void client.resume();
    const upstream = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    track(upstream, sockets);
    forward(client, upstream, true);
    forward(upstream, client, false);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const proxy: TcpProxy = {
    port,
    url: `http://127.0.0.1:${port}`,
    clients,
    isDown: false,
    isSilent: false,
    silentAt: null,
    cut() {
      for (const socket of sockets) cut(socket);
    },
  };
  cleanup.after(async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return proxy;
}
