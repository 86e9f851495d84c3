/** uWebSockets.js, with declarations missing from its type file. Nothing outside this folder uses it. */
import './max-header-size.ts';
import type { HttpRequest } from 'uWebSockets.js';

declare module 'uWebSockets.js' {
  /** Refuse a port that another process listens on; without it the system shares the connections between them. */
  export const LIBUS_LISTEN_EXCLUSIVE_PORT: ListenOptions;
  interface TemplatedApp {
    listen(
      host: RecognizedString,
      port: number,
      options: ListenOptions,
      callback: (listenSocket: us_listen_socket | false) => void,
    ): TemplatedApp;
  }
}

export {
  App,
  type HttpRequest,
  type HttpResponse,
  LIBUS_LISTEN_EXCLUSIVE_PORT,
  SSLApp,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  type us_socket_context_t,
  us_socket_local_port,
  type WebSocket,
} from 'uWebSockets.js';

/** The raw query string, empty when there is none: the library then gives undefined, whatever its types say. */
export function queryOf(req: HttpRequest): string {
  const query: string | undefined = req.getQuery();
  return query ?? '';
}
