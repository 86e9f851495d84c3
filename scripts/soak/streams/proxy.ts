/** A TCP proxy whose connections can be dropped. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  url: string;
  /** Drops every connection. New ones are accepted. */
  dropConnections(): void;
  close(): void;
}

/** Forwards bytes to the host and port of a URL, both ways. */
export async function startProxy(url: string): Promise<TcpProxy> {
  const { port, hostname } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const target = connect(Number(port), hostname);
    for (const end of [socket, target]) {
      sockets.add(end);
      end.on('error', () => undefined).on('close', () => sockets.delete(end));
    }
    socket.on('close', () => target.destroy());
    target.on('close', () => socket.destroy());
    socket.pipe(target).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dropConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dropConnections,
    close() {
      dropConnections();
      server.close();
    },
  };
}
