/**
 * The listening port. uWebSockets.js reads a certificate only when an app is created, so a new app with each renewed
 * certificate takes over the port. The old app keeps its connections until they close.
 */
import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ConfigError, FatalError, ListenError, messageOf } from '../../lib/errors.ts';
import { settingName, settingWord } from '../../lib/setting-name.ts';
import { hostPort } from '../../lib/text.ts';
import { chainProblem, tlsFilesProblem } from '../../lib/tls-files.ts';
import {
  App,
  LIBUS_LISTEN_EXCLUSIVE_PORT,
  SSLApp,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from '../uws.ts';

/** Bind errors caused by the host setting, not by the port. */
const ABOUT_THE_HOST = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'];

/** Listens on a port that no other process uses. Rejects with ListenError. */
export async function listen(app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> {
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen(host, port, LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (socket) return socket;
  const code = await bindErrorCode(host, port);
  const setting = ABOUT_THE_HOST.includes(code) ? 'server.host' : 'server.port';
  throw new ListenError(setting, hostPort(host, port), code);
}

/** The library does not report why binding failed, so bind the same address with Node to get the error code. */
function bindErrorCode(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve('EADDRINUSE')));
  });
}

export interface ListenerSettings {
  host: string;
  port: number;
  /** Paths of the certificate chain and its key; both empty without TLS. */
  tls_cert: string;
  tls_key: string;
}

type TlsFiles = Pick<ListenerSettings, 'tls_cert' | 'tls_key'>;

/** Registers all routes. Runs for each app that takes over the port. */
type AddRoutes = (app: TemplatedApp) => void;

interface ListeningApp {
  app: TemplatedApp;
  /** SHA-256 of certificate and key; empty without TLS. */
  certificateDigest: string;
}

export class Listener {
  /** The configured port, or for 0 the port that the system chose. */
  readonly port: number;
  private readonly settings: ListenerSettings;
  private readonly addRoutes: AddRoutes;
  /** Null once closed. */
  private listenSocket: us_listen_socket | null;
  private current: ListeningApp;
  /** Apps that no longer listen but may still have connections. */
  private readonly former: TemplatedApp[] = [];

  private constructor(
    settings: ListenerSettings,
    addRoutes: AddRoutes,
    current: ListeningApp,
    listenSocket: us_listen_socket,
  ) {
    this.settings = settings;
    this.addRoutes = addRoutes;
    this.current = current;
    this.listenSocket = listenSocket;
    this.port = us_socket_local_port(listenSocket);
  }

  /** Rejects with ListenError when it cannot bind the address, with ConfigError for an unusable certificate. */
  static async open(settings: ListenerSettings, addRoutes: AddRoutes): Promise<Listener> {
    const first = createApp(settings, addRoutes);
    try {
      const listenSocket = await listen(first.app, settings.host, settings.port);
      return new Listener(settings, addRoutes, first, listenSocket);
    } catch (error) {
      first.app.close();
      throw error;
    }
  }

  /**
   * Uses the certificate now on disk for new connections. Does nothing without TLS or for an unchanged certificate. The
   * port is closed for some microseconds: open connections stay, but a connection attempt may be reset.
   */
  async renewCertificate(files: TlsFiles): Promise<void> {
    if (this.current.certificateDigest === '' || files.tls_cert === '') return;
    if (certificateDigestOf(files) === this.current.certificateDigest) return;
    // SO_REUSEADDR allows listening while connections are open. The library sets it only for an explicit port.
    if (this.settings.port === 0) {
      throw new ConfigError(
        `${settingName('server.port')} is 0: set a fixed port to renew the certificate without a restart`,
      );
    }
    const next = createApp(files, this.addRoutes);
    // Closing a port resets connections that wait to be accepted. Right after a turn of the event loop, none waits.
    await nextTurn();
    this.stopAccepting();
    try {
      this.listenSocket = await listen(next.app, this.settings.host, this.port);
    } catch (cause) {
      next.app.close();
      throw new FatalError(`the port was lost while the certificate was renewed: ${cause}`, { cause });
    }
    this.former.push(this.current.app);
    this.current = next;
  }

  /** Stops accepting connections. */
  stopAccepting(): void {
    if (this.listenSocket !== null) us_listen_socket_close(this.listenSocket);
    this.listenSocket = null;
  }

  /** Closes all connections. */
  closeConnections(): void {
    for (const app of [this.current.app, ...this.former]) app.close();
  }
}

function createApp(files: TlsFiles, addRoutes: AddRoutes): ListeningApp {
  const certificateDigest = certificateDigestOf(files);
  const app =
    certificateDigest === ''
      ? App()
      : SSLApp({ cert_file_name: files.tls_cert, key_file_name: files.tls_key });
  addRoutes(app);
  return { app, certificateDigest };
}

function certificateDigestOf({ tls_cert, tls_key }: TlsFiles): string {
  if (tls_cert === '') return '';
  const { cert, key } = readTlsFiles(tls_cert, tls_key);
  return createHash('sha256').update(cert).update(key).digest('hex');
}

/**
 * The contents of both files. Throws ConfigError naming the setting when a file cannot be read or the two do not match;
 * the library would not report why.
 */
export function readTlsFiles(certPath: string, keyPath: string): { cert: Buffer; key: Buffer } {
  const cert = readTlsFile('server.tls_cert', certPath);
  const key = readTlsFile('server.tls_key', keyPath);
  const problem = tlsFilesProblem(
    { setting: settingWord('server.tls_cert'), path: certPath, bytes: cert },
    { setting: settingWord('server.tls_key'), path: keyPath, bytes: key },
  );
  if (problem === null) return { cert, key };
  throw new ConfigError(
    `${settingName('server.tls_cert')}: ${certPath} and ${keyPath} are not a PEM certificate and its key: ${problem}`,
  );
}

/** Why clients will not trust a certificate, or null. */
export function certificateChainError(certPath: string, cert: Buffer): string | null {
  return chainProblem({ setting: settingWord('server.tls_cert'), path: certPath, bytes: cert });
}

/** Why clients will refuse a certificate because of its dates, or null. Only a warning: the server still starts. */
export function certificateDateError(certPath: string, cert: Buffer, now = new Date()): string | null {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  const wrong =
    now > validToDate
      ? `expired at ${validToDate.toISOString()}: renew it`
      : now < validFromDate
        ? `is not valid before ${validFromDate.toISOString()}: check the clock`
        : null;
  return wrong === null ? null : `${settingName('server.tls_cert')}: ${certPath} ${wrong}; clients refuse it`;
}

function readTlsFile(name: 'server.tls_cert' | 'server.tls_key', path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError(`${settingName(name)}: cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
}
