/**
 * The listening port. The server library reads a certificate only when an app is made, so a new app takes over the port
 * for a renewed certificate; connections of the old app go on until they end on their own.
 */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ConfigError, FatalError } from '../errors.ts';
import { listen } from './listen.ts';
import { readTlsFiles } from './tls.ts';
import {
  App,
  SSLApp,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from './uws.ts';

export interface ListenerSettings {
  host: string;
  port: number;
  /** Files of the certificate chain and of its key, both empty without TLS. */
  tls_cert: string;
  tls_key: string;
}

type TlsFiles = Pick<ListenerSettings, 'tls_cert' | 'tls_key'>;

/** Registers all routes. Called for each app that takes over the port. */
type AddRoutes = (app: TemplatedApp) => void;

interface ListeningApp {
  app: TemplatedApp;
  /** SHA-256 of certificate and key; empty without TLS. */
  certificateDigest: string;
}

export class Listener {
  /** The requested port, or the free one that was chosen for 0. */
  readonly port: number;
  private readonly settings: ListenerSettings;
  private readonly addRoutes: AddRoutes;
  /** Null once it is closed. */
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
   * Uses the certificate now in the files for new connections. Does nothing without TLS or for the same certificate. The
   * port is closed for some microseconds: open connections stay, but one just being established may be reset.
   */
  async renewCertificate(files: TlsFiles): Promise<void> {
    if (this.current.certificateDigest === '' || files.tls_cert === '') return;
    if (certificateDigestOf(files) === this.current.certificateDigest) return;
    // Only for an explicit port does the library set SO_REUSEADDR, which allows listening beside open connections.
    if (this.settings.port === 0) {
      throw new ConfigError(
        'server.port is 0: with a port of its own the server could renew its certificate',
      );
    }
    const next = createApp(files, this.addRoutes);
    // Closing a port resets connections that wait to be accepted. Right after a turn of the event loop there are none.
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
