import type { Socket } from 'node:net';

/**
 * Ends a connection at once, with a reset if possible. Resetting a socket that is shutting down fails and leaks its
 * handle, so that the process never ends.
 */
export function cut(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
