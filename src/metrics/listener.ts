/**
 * `/metrics` on its own address, so that monitoring can reach it and clients cannot. Also `/healthz` and `/readyz` for
 * load balancers whose probes speak HTTP/1.0, which the main port's library refuses.
 */

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { codeOf, ListenError } from '../lib/errors.ts';
import { guarded } from '../lib/guard.ts';
import { http } from '../lib/http.ts';
import { hostPort } from '../lib/text.ts';
import type { Logger } from '../log/logger.ts';
import type { Metrics } from './metrics.ts';

/** More than the Prometheus servers that scrape one daemon. */
const MAX_CONNECTIONS = 32;

type RenderedMetrics = Pick<Metrics, 'render' | 'contentType'>;

interface MetricsListener {
  url: string;
  close(): Promise<void>;
}

/** Listens on host and port. Throws ListenError when it cannot bind the address. */
export async function listenForMetrics(
  { host, port }: { host: string; port: number },
  metrics: RenderedMetrics,
  notReadyReason: () => string | null,
  log: Logger,
): Promise<MetricsListener> {
  const server = http.createServer((request, response) => {
    const reply = guarded(
      'metrics',
      () =>
        answer(request, metrics, notReadyReason)
          .catch((error: unknown) => {
            log.error({ err: error }, 'the metrics cannot be rendered');
            return { status: 500, type: 'text/plain', body: 'the metrics cannot be rendered\n' };
          })
          .then((reply) => send(response, reply)),
      () => response.destroy(),
    );
    reply();
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (error) {
    const code = codeOf(error);
    if (code === '') throw error;
    throw new ListenError('metrics.listen', hostPort(host, port), code, { cause: error });
  }
  // For example when out of file descriptors. Without a handler the error would end the daemon.
  server.on('error', (error) => log.error({ err: error }, 'cannot accept a connection to the metrics'));
  const bound = server.address() as AddressInfo;
  return { url: `http://${hostPort(bound.address, bound.port)}/metrics`, close: () => close(server) };
}

interface Reply {
  status: number;
  type: string;
  body: string;
}

async function answer(
  request: IncomingMessage,
  metrics: RenderedMetrics,
  notReadyReason: () => string | null,
): Promise<Reply> {
  const path = request.url?.split('?', 1)[0];
  if (path === '/healthz') return { status: 200, type: 'text/plain', body: 'ok\n' };
  if (path === '/readyz') {
    const reason = notReadyReason();
    return { status: reason === null ? 200 : 503, type: 'text/plain', body: `${reason ?? 'ready'}\n` };
  }
  if (path !== '/metrics') {
    return { status: 404, type: 'text/plain', body: 'try /metrics, /healthz or /readyz\n' };
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { status: 405, type: 'text/plain', body: 'use GET\n' };
  }
  return { status: 200, type: metrics.contentType, body: await metrics.render() };
}

function send(response: ServerResponse, { status, type, body }: Reply): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(body);
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
