/** Keys and the operator's token in every place where a client can put them. The daemon must not disclose them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { nestedCleanup } from '../support/cleanup.ts';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { freePort } from '../support/free-port.ts';

const TOKEN = 'operator-token-6c1f0d';

test('keys and tokens never appear in the log, the metrics or an error', async (t) => {
  const cleanup = nestedCleanup(t);
  const metricsPort = await freePort();
  const daemon = await startDaemonProcess(cleanup, {
    ATLAS_NODE_HTTP: 'http://user:node-pa55word@127.0.0.1:9',
    ATLAS_ADMIN_TOKEN: TOKEN,
    ATLAS_METRICS__LISTEN: `127.0.0.1:${metricsPort}`,
    ATLAS_LOG__LEVEL: 'debug',
    ATLAS_LOG__FORMAT: 'json',
    ATLAS_RPC__SLOW_MS: '1', // every call is logged
  });
  const { url, key, freeKey } = daemon;
  const address = `0x${'1'.repeat(40)}`;
  const call = (method: string, params: unknown[] = []) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const json = { 'Content-Type': 'application/json' };
  const header = { 'X-API-Key': key };
  const requests: [string, RequestInit][] = [
    [`/api/wallet_summary?address=${address}&api_key=${key}`, {}],
    [`/api/wallet_summary?address=${address}&api%5Fkey=${key}`, { headers: header }],
    [`/api/wallet_summary?address=${address}&api_key=${key}x`, {}],
    [`/api/address_transfers?address=${address}&limit=x&api_key=${key}`, {}],
    [`/api/nothing_here?api_key=${key}`, {}],
    [`/docs?api_key=${key}`, {}],
    ['/api/wallets/batch', { method: 'POST', headers: { ...header, ...json }, body: '{' }],
    [
      `/rpc?api_key=${key}`,
      { method: 'POST', headers: json, body: call('eth_getBlockByNumber', ['0x1', true]) },
    ],
    [
      '/rpc',
      { method: 'POST', headers: header, body: call('eth_call', [{ to: address, data: '0x' }, 'latest']) },
    ],
    ['/rpc', { method: 'POST', headers: header, body: '{"jsonrpc":' }],
    ['/admin/api/keys', { headers: { Authorization: `Bearer ${TOKEN}` } }],
    ['/admin/api/keys', { headers: { Authorization: `Bearer ${TOKEN}x`, cookie: `atlas_admin=${key}` } }],
    ['/admin/api/config', { headers: { Authorization: `Bearer ${TOKEN}` } }],
    [
      '/admin/api/session',
      { method: 'POST', headers: { 'X-Atlas-Panel': '1' }, body: JSON.stringify({ token: key }) },
    ],
    // Places where a key does not belong. These answers may echo a client's own input, but nobody else may see it.
    [`/${key}`, {}],
    [`/api/${key}`, { headers: header }],
  ];
  const echoes = 2;
  const told: string[] = [];
  for (const [path, init] of requests) told.push(await (await fetch(url + path, init)).text());
  for (let i = 0; i < 20; i++) await fetch(`${url}/api/wallet_summary?address=${address}&api_key=${freeKey}`);
  const misplaced = [call(key), call('eth_call', [key]), call(`eth_${key}`)];
  for (const body of misplaced)
    await (await fetch(`${url}/rpc`, { method: 'POST', headers: header, body })).text();
  for (const path of ['/ws', '/ws/signals']) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}${path}?api_key=${key}`);
    cleanup.after(() => socket.terminate());
    await once(socket, 'open');
    for (const message of [...misplaced, key, Buffer.from(key)]) {
      socket.send(message);
      await once(socket, 'message');
    }
    const closed = once(socket, 'close');
    socket.send(Buffer.from(`${key}\u00ff`, 'latin1')); // not UTF-8
    await closed;
  }
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  assert.match(metrics, /atlas_http_requests_total\{[^}]*status="401"/);
  daemon.child.kill('SIGTERM');
  const { stdout, stderr } = await daemon.ended;
  assert.match(stdout + stderr, /"level":"warn"/, 'the log has something to tell');
  const secrets = { key, freeKey, token: TOKEN, 'password of the node': 'node-pa55word' };
  const places = { log: stdout + stderr, metrics, answers: told.slice(0, -echoes).join('\n') };
  for (const [what, secret] of Object.entries(secrets)) {
    for (const [place, text] of Object.entries(places)) {
      assert.ok(!text.includes(secret), `the ${what} is in the ${place}`);
    }
  }
  // Not even most of it, because a truncated key could be completed.
  for (const text of [places.log, metrics]) assert.ok(!text.includes(key.slice(0, -8)));
});
