/** What the shipped nginx configuration does with requests when a daemon is down or dies. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { before, describe, test } from 'node:test';
import { suiteCleanup } from '../support/cleanup.ts';
import { hasNginx, startNginx } from '../support/daemon/nginx.ts';
import { freePort } from '../support/free-port.ts';

/** A daemon that records its requests and can be made to die before it answers. */
async function startUpstream(cleanup: ReturnType<typeof suiteCleanup>, name: string) {
  const upstream = { name, port: 0, isDying: false, requests: [] as string[] };
  const server = createServer((request, response) => {
    upstream.requests.push(`${request.method} ${request.url}`);
    if (upstream.isDying) request.socket.destroy();
    else response.end(name);
  }).listen(0, '127.0.0.1');
  cleanup.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const address = server.address();
  if (address !== null && typeof address === 'object') upstream.port = address.port;
  return upstream;
}

describe('nginx', { skip: !hasNginx && 'left out: this machine has no nginx' }, () => {
  const cleanup = suiteCleanup();
  let upstreams: Awaited<ReturnType<typeof startUpstream>>[] = [];
  let url = '';

  before(async () => {
    upstreams = [await startUpstream(cleanup, 'one'), await startUpstream(cleanup, 'two')];
    ({ url } = await startNginx(
      cleanup,
      upstreams.map(({ port }) => port),
    ));
  });

  const ask = async (path: string, init?: RequestInit) => (await fetch(url + path, init)).text();
  /** The upstreams, the key's own first. */
  const of = async (key: string) => {
    const name = await ask('/api/x', { headers: { 'X-API-Key': key } });
    for (const upstream of upstreams) upstream.requests = [];
    const [own, other] = upstreams[0]?.name === name ? upstreams : [...upstreams].reverse();
    if (own === undefined || other === undefined) throw new Error('there are two upstreams');
    return { own, other };
  };

  test('each key is routed to one daemon, by header or query, and keys are spread', async () => {
    const names = new Set<string>();
    for (let i = 0; i < 20; i++) {
      const key = `atlas_${i}`;
      const first = await ask('/api/x', { headers: { 'X-API-Key': key } });
      names.add(first);
      assert.equal(await ask(`/api/y?limit=1&api_key=${key}`), first);
      assert.equal(
        await ask('/rpc?api_key=other', { method: 'POST', body: '{}', headers: { 'X-API-Key': key } }),
        first,
      );
    }
    assert.deepEqual([...names].sort(), ['one', 'two']);
  });

  test('a GET whose daemon dies is retried at the other; a POST already sent is never resent', async () => {
    const { own, other } = await of('atlas_a');
    own.isDying = true;
    const headers = { 'X-API-Key': 'atlas_a' };
    assert.equal(await ask('/api/x', { headers }), other.name);
    own.requests = [];
    other.requests = [];
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["0x01"]}';
    const sent = await fetch(`${url}/rpc`, { method: 'POST', body, headers });
    assert.equal(sent.status, 502);
    assert.deepEqual([own.requests, other.requests], [['POST /rpc'], []]);
    own.isDying = false;
  });

  test('an unreachable daemon costs no request, not even a POST', async () => {
    const dead = await freePort();
    const alive = upstreams[0];
    const { url } = await startNginx(cleanup, [dead, alive?.port ?? 0]);
    for (let i = 0; i < 20; i++) {
      const headers = { 'X-API-Key': `atlas_${i}` };
      const response = await fetch(`${url}/rpc`, { method: 'POST', body: '{}', headers });
      assert.equal(await response.text(), 'one');
    }
  });
});
