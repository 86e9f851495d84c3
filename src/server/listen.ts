/** Binding the port. */
import { createServer } from 'node:net';
import { ListenError } from '../errors.ts';
import { hostPort } from '../lib/host-port.ts';
import { LIBUS_LISTEN_EXCLUSIVE_PORT, type TemplatedApp, type us_listen_socket } from './uws.ts';

/** Codes of errors that another port would not fix. */
const ABOUT_THE_HOST = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'];

/** Listens on a port that no other process has. Rejects with ListenError. */
export async function listen(app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> {
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen(host, port, LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (socket) return socket;
  const code = await bindErrorCode(host, port);
  const setting = ABOUT_THE_HOST.includes(code) ? 'server.host' : 'server.port';
  throw new ListenError(setting, hostPort(host, port), code);
}

/** The server library only says that it failed; binding the same address with Node gives the error code. */
function bindErrorCode(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve('EADDRINUSE')));
  });
}
