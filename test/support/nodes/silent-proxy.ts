/** A TCP proxy that falls silent: connections stay open, and no byte arrives any more, as behind a lost network. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Cleanup } from '../cleanup.ts';

export interface SilentProxy {
  port: number;
  isSilent: boolean;
  /** Falls silent with the first bytes from a client that contain this text; they are not forwarded. */
  silentAt: string | null;
}

/** Forwards connections to a port of this machine. Accepts them also while silent. */
export async function startSilentProxy(cleanup: Cleanup, target: number): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  const proxy: SilentProxy = { port: 0, isSilent: false, silentAt: null };
  const forward = (from: Socket, to: Socket, isClient: boolean) => {
    from.on('data', (bytes: Buffer) => {
      if (isClient && proxy.silentAt !== null && bytes.includes(proxy.silentAt)) proxy.isSilent = true;
      if (!proxy.isSilent) to.write(bytes);
    });
    // The other side learns nothing from a silent network, not even an end.
    from.on('close', () => !proxy.isSilent && to.destroy());
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    track(client);
    if (proxy.isSilent) return void client.resume();
    const upstream = connect(target, '127.0.0.1');
    track(upstream);
    forward(client, upstream, true);
    forward(upstream, client, false);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  proxy.port = address.port;
  cleanup.after(async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return proxy;
}
