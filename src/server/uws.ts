/** uWebSockets.js, with the declarations missing from its type file. Only this folder uses it. */
import './max-header-size.ts';
import type { HttpRequest } from 'uWebSockets.js';

declare module 'uWebSockets.js' {
  /** Refuse a port that another process listens on; otherwise the system splits connections between the two. */
  export const LIBUS_LISTEN_EXCLUSIVE_PORT: ListenOptions;
  /** A message in fragments, without other messages in between. Results as of `send`. */
  interface WebSocket<UserData> {
    sendFirstFragment(part: RecognizedString, isBinary: boolean): number;
    sendFragment(part: RecognizedString, isBinary: boolean): number;
    sendLastFragment(part: RecognizedString, isBinary: boolean): number;
  }
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
  type WebSocketBehavior,
} from 'uWebSockets.js';

/** The raw query string or an empty one. Without a query the library returns undefined, contrary to its types. */
export function queryOf(req: HttpRequest): string {
  const query: string | undefined = req.getQuery();
  return query ?? '';
}
