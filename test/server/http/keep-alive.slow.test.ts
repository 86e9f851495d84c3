/** Idle connections: how long the library keeps them, and that what the documents advise loses no request. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../../support/docs.ts';
import { serve } from '../serving.ts';

const CALL = '{"jsonrpc":"2.0","id":7,"method":"eth_accounts","params":[]}';
/** Silence after which a client should not use a connection again, as documented, seconds. */
const ADVISED = 5;
/** The shortest that the library keeps one. */
const SHORTEST = 8;

test('an idle connection ends after 8 to 12 seconds', async (t) => {
  const { server } = await serve(t);
  const idleSeconds = () =>
    new Promise<number>((resolve, reject) => {
      let answeredAt = 0;
      const socket = connect(server.port, '127.0.0.1', () =>
        socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'),
      );
      socket.on('data', () => {
        answeredAt = performance.now();
      });
      socket.on('error', reject);
      socket.on('close', () => resolve((performance.now() - answeredAt) / 1_000));
    });
  // The library looks every four seconds, so when a connection begins to be idle makes the difference.
  const started = Array.from({ length: 16 }, async (_, i) => {
    await sleep(i * 250);
    return idleSeconds();
  });
  const seconds = await Promise.all(started);
  const shortest = Math.min(...seconds);
  assert.ok(shortest > SHORTEST - 0.5, `the first ended after ${shortest} s`);
  assert.ok(Math.max(...seconds) < 20, 'all ended');
});

test('a client that drops idle connections after the advised time loses no request', async (t) => {
  const { server, key } = await serve(t);
  const post = (agent: Agent) =>
    new Promise<number>((resolve, reject) => {
      const headers = { 'X-API-Key': key, 'Content-Length': CALL.length };
      const sent = request(`${server.url}/rpc`, { method: 'POST', agent, headers }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject);
      sent.end(CALL);
    });
  const clients = Array.from({ length: 100 }, async (_, i) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, timeout: ADVISED * 1_000 });
    await post(agent);
    await sleep(4_000 + i * 90); // up to 13 s
    const status = await post(agent);
    agent.destroy();
    return status;
  });
  assert.deepEqual(new Set(await Promise.all(clients)), new Set([200]));
});

test('the documents and the proxy example advise less than that', () => {
  for (const name of ['docs/clients.md', 'docs/operating.md', 'scripts/nginx.conf'])
    assert.match(readFileSync(join(ROOT, name), 'utf8'), /8 to 12 s/, name);
  const proxy = readFileSync(join(ROOT, 'scripts/nginx.conf'), 'utf8');
  assert.ok(Number(/keepalive_timeout (\d+)s;/.exec(proxy)?.[1]) <= ADVISED);
  assert.match(readFileSync(join(ROOT, 'docs/clients.md'), 'utf8'), new RegExp(`after ${ADVISED} s`));
});
