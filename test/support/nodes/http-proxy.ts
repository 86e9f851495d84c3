/** One address for several nodes: a load balancer, or a node that is being replaced. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from '../cleanup.ts';

const JSON_BODY = { 'content-type': 'application/json' };

/** The address of the node that a request goes to, or the answer to it. */
type Route = (body: string, request: IncomingMessage) => string | { answer: string };

/** Returns the address of the proxy. */
export async function startHttpProxy(cleanup: Cleanup, route: Route): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray().catch(() => null);
    if (chunks === null) return; // the client gave up
    const body = Buffer.concat(chunks).toString();
    const to = route(body, request);
    try {
      if (typeof to === 'object') return response.writeHead(200, JSON_BODY).end(to.answer);
      const answer = await fetch(to, { method: 'POST', headers: JSON_BODY, body });
      response.writeHead(answer.status, JSON_BODY).end(await answer.text());
    } catch {
      response.writeHead(502).end('bad gateway');
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.after(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface SwitchingProxy {
  url: string;
  /** Routes later requests to this node. Connections of clients stay open. */
  switchTo(url: string): void;
}

/** A proxy of one node at a time. */
export async function startSwitchingProxy(cleanup: Cleanup, first: string): Promise<SwitchingProxy> {
  let target = first;
  return {
    url: await startHttpProxy(cleanup, () => target),
    switchTo(url) {
      target = url;
    },
  };
}
