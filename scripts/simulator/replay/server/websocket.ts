import type { Server } from 'node:http';
import { WebSocketServer } from 'ws';
import type { Methods } from '../methods/method.ts';
import type { AnswerChunks } from './dispatch.ts';
import type { Feed } from './feed.ts';
import type { Latency } from './latency.ts';

/** JSON-RPC with subscriptions over WebSocket, on the port of the HTTP server. */
export function attachWebSocket(
  server: Server,
  handle: (text: string, connectionMethods: Methods) => AnswerChunks,
  feed: Feed,
  latency: Latency,
): WebSocketServer {
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request));
  });
  sockets.on('connection', (socket) => {
    const subscriber = feed.add((text) => socket.send(text));
    const connectionMethods = feed.methodsOf(subscriber);
    socket.on('message', (data) => {
      const text = data.toString();
      latency.delay(() => socket.send(Buffer.concat(handle(text, connectionMethods)), { binary: false }));
    });
    socket.on('close', () => feed.remove(subscriber));
    // The library closes a client that violates the protocol; the close event does the rest.
    socket.on('error', () => undefined);
  });
  return sockets;
}
