/** One address for several nodes, one at a time: a load balancer, or a node that is being replaced. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from '../cleanup.ts';

interface SwitchingProxy {
  url: string;
  /** Routes later requests to this node. Connections of clients stay open. */
  switchTo(url: string): void;
}

const JSON_BODY = { 'content-type': 'application/json' };

export async function startSwitchingProxy(cleanup: Cleanup, first: string): Promise<SwitchingProxy> {
  let target = first;
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray().catch(() => null);
    if (chunks === null) return; // the client gave up
    try {
      const body = Buffer.concat(chunks);
      const answer = await fetch(target, { method: 'POST', headers: JSON_BODY, body });
      response.writeHead(answer.status, JSON_BODY);
      response.end(await answer.text());
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
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    switchTo(url) {
      target = url;
    },
  };
}
