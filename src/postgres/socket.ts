/** Opens a socket to PostgreSQL, encrypted as its address demands. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type PostgresAddress, PostgresSetupError } from './address.ts';
import { encrypt, lost, offersTls, tlsOptions } from './tls.ts';

/**
 * Resolves with a socket on which the session can begin. Destroys it and rejects with the signal's reason when the
 * signal aborts. Throws PostgresSetupError where only an operator can help.
 */
export async function openSocket(
  address: PostgresAddress,
  host: string,
  setting: string,
  signal: AbortSignal,
): Promise<Socket> {
  const { mode } = address.tls;
  const isLocal = host.startsWith('/');
  if (mode === 'disable' || isLocal) return openPlain(address, host, signal);
  try {
    return await openEncrypted(address, host, setting, signal);
  } catch (error) {
    if (mode !== 'prefer' || signal.aborted || !(error instanceof HandshakeError)) throw unwrapped(error);
    return openPlain(address, host, signal); // as psql does
  }
}

/** The server was reached, but a TLS handshake with it failed. */
class HandshakeError extends Error {}

function unwrapped(error: unknown): unknown {
  return error instanceof HandshakeError ? error.cause : error;
}

async function openEncrypted(
  address: PostgresAddress,
  host: string,
  setting: string,
  signal: AbortSignal,
): Promise<Socket> {
  const { tls } = address;
  const options = tlsOptions(tls, host, setting);
  const socket = await openPlain(address, host, signal);
  try {
    return await unlessAborted(signal, socket, async () => {
      if (!tls.isDirect && !(await offersTls(socket))) {
        if (tls.mode === 'prefer') return socket;
        throw new PostgresSetupError(
          `PostgreSQL offers no TLS, which sslmode=${tls.mode} in ${setting} demands: turn ssl on there, or ` +
            'set sslmode=disable',
        );
      }
      const secure = await encrypt(socket, options, setting).catch((error: unknown) => {
        throw new HandshakeError('the TLS handshake failed', { cause: error });
      });
      secure.on('error', () => undefined); // until the session has its own listener
      return label(secure, host, address.port);
    });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function openPlain({ port }: PostgresAddress, host: string, signal: AbortSignal): Promise<Socket> {
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  socket.on('error', () => undefined); // until the session has its own listener
  try {
    await once(socket, 'connect', { signal });
    return label(socket, host, port);
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? signal.reason : error;
  }
}

/** The package names them in its errors. */
function label<T extends Socket>(socket: T, host: string, port: number): T {
  return Object.assign(socket, { host, port });
}

/** Destroys the socket when the signal aborts, which ends the wait. */
async function unlessAborted<T>(signal: AbortSignal, socket: Socket, run: () => Promise<T>): Promise<T> {
  const onAbort = () => socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (signal.aborted) throw lost();
    return await run();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
