import type { Socket } from 'node:net';

/**
 * Ends a connection at once, with a reset where that is possible. A reset of a socket that is being shut down fails
 * and leaves the handle for ever open, so that the process neither runs nor ends.
 */
export function cut(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
