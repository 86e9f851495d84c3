/**
 * The minimal server on uWebSockets.js: the baseline for the real server, and a fake node where a real one would be the
 * bottleneck.
 */
import { listen } from '../../../src/server/http/listener.ts';
import { App, type HttpResponse, queryOf, us_socket_local_port } from '../../../src/server/uws.ts';

interface BareHandlers {
  /** JSON for the query string of a GET, whatever its path; null is answered with 404. */
  get(query: string): string | null;
  /** JSON for the body of a POST. */
  post(body: Buffer): string | Buffer | Promise<string | Buffer>;
}

export interface BareServer {
  port: number;
  /** Sends a text to every open WebSocket. */
  publish(text: string): void;
}

const TOPIC = 'all';

/** Listens on a free port of the loopback. */
export async function startBareServer(handlers: BareHandlers): Promise<BareServer> {
  const app = App();
  app.get('/*', (res, req) => {
    const json = handlers.get(queryOf(req));
    if (json === null) res.writeStatus('404 Not Found').end();
    else sendJson(res, json);
  });
  app.post('/*', (res) => answerPost(res, handlers));
  app.ws('/*', {
    open(socket) {
      socket.subscribe(TOPIC);
    },
  });
  const listenSocket = await listen(app, '127.0.0.1', 0);
  return {
    port: us_socket_local_port(listenSocket),
    publish: (text) => app.publish(TOPIC, text),
  };
}

function answerPost(res: HttpResponse, handlers: BareHandlers): void {
  let aborted = false;
  res.onAborted(() => {
    aborted = true;
  });
  const parts: Buffer[] = [];
  res.onData((part, isLast) => {
    parts.push(Buffer.from(new Uint8Array(part))); // the library reuses the memory
    if (!isLast) return;
    const answer = handlers.post(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
    if (!(answer instanceof Promise)) return sendJson(res, answer);
    answer.then(
      (json) => {
        if (!aborted) res.cork(() => sendJson(res, json));
      },
      () => {
        if (!aborted) res.cork(() => res.writeStatus('502 Bad Gateway').end());
      },
    );
  });
}

function sendJson(res: HttpResponse, json: string | Buffer): void {
  res.writeHeader('Content-Type', 'application/json').end(json);
}
