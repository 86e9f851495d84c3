import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cleanup } from '../support/cleanup.ts';

/** A proxy that strips a path prefix. */
export async function prefixProxy(t: Cleanup, target: string, path: string): Promise<string> {
  const proxy = createServer((incoming, response) => {
    const { url = '', method, headers } = incoming;
    if (!url.startsWith(`${path}/`)) return void response.writeHead(404).end();
    const passed = request(target + url.slice(path.length), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    incoming.pipe(passed);
  }).listen(0, '127.0.0.1');
  t.after(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  await once(proxy, 'listening');
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${path}`;
}
