import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestError } from '../../../src/lib/errors.ts';
import { ActivityLog } from '../../../src/metrics/activity.ts';
import { loadAssets } from '../../../src/server/pages/assets.ts';
import { address } from '../../support/index/index-fixture.ts';
import { operate } from '../operating.ts';
import { serve } from '../serving.ts';

const SUMMARY = `/api/wallet_summary?address=${address('alice')}`;
const GAS_PRICE = '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}';

test('every answer is counted once, whatever the request', async (t) => {
  const { fetch, operate: asOperator, index, metrics } = await operate(t);
  index.append([{ a: [{ from: 'bob', to: 'alice' }] }]);
  const asset = [...(await loadAssets()).keys()].find((name) => name.endsWith('.js'));
  const requests: [route: string, status: number, request: () => Promise<Response>][] = [
    ['/api/wallet_summary', 200, () => fetch(SUMMARY)],
    ['/api/wallet_summary', 304, () => fetch(SUMMARY, { headers: { 'If-None-Match': '*' } })],
    ['/api/wallet_summary', 401, () => fetch(SUMMARY, { headers: { 'X-API-Key': 'none' } })],
    ['/api/wallets/batch', 415, () => fetch('/api/wallets/batch', { method: 'POST', body: '' })],
    ['/rpc', 200, () => fetch('/rpc', { method: 'POST', body: '[]' })],
    ['other', 405, () => fetch('/rpc')],
    ['other', 404, () => fetch('/nothing')],
    ['other', 200, () => fetch('/rpc', { method: 'OPTIONS' })],
    ['asset', 200, () => fetch(`/${asset}`)],
    ['/docs', 308, () => fetch('/docs/', { redirect: 'manual' })],
    ['/admin/api/keys', 200, () => asOperator('/keys')],
    ['other', 404, () => asOperator('/nothing')],
    ['other', 404, () => asOperator('/keys', { method: 'OPTIONS' })],
  ];
  const expected = new Map<string, number>();
  for (const [route, status, request] of requests) {
    const response = await request();
    assert.equal(response.status, status, route);
    const series = `{route="${route}",status="${status}"}`;
    expected.set(series, (expected.get(series) ?? 0) + 1);
  }
  const counted = (await metrics.render()).matchAll(/^atlas_http_requests_total(\S+) (\d+)$/gm);
  assert.deepEqual(new Map([...counted].map(([, series, count]) => [series, Number(count)])), expected);
});

test('asking too early is no server error, neither for the metric nor for the panel; a fault is one', async (t) => {
  const unavailable = new RequestError(503, 'node_unavailable', 'no answer');
  const { fetch, post, index, metrics, state } = await serve(t, {
    nodeReads: {
      blockOfTransaction: () => Promise.reject(unavailable),
      transaction: () => Promise.reject(unavailable),
      blockByHash: () => Promise.reject(unavailable),
      balancesAt: () => Promise.resolve(new Map()),
      sendersOf: () => Promise.resolve([]),
    },
  });
  const activity = new ActivityLog(metrics, () => state);
  t.after(() => activity.close());
  const early = [
    await fetch('/readyz'),
    await fetch('/readyz', { method: 'HEAD' }),
    await fetch(SUMMARY),
    await fetch(SUMMARY, { method: 'HEAD' }),
    await post('/api/wallets/batch', `{"addresses":["${address('alice')}"]}`),
  ];
  index.append([{}]);
  early.push(await fetch('/api/block_transfers?block=999'));
  assert.deepEqual(
    early.map(({ status }) => status),
    early.map(() => 503),
  );
  const errors = async () =>
    [...(await metrics.render()).matchAll(/^atlas_http_server_errors_total(\S+) (\d+)$/gm)].map(
      ([, series]) => series,
    );
  assert.deepEqual(await errors(), []);
  assert.equal(activity.read().totals.errors, 0);

  assert.equal((await fetch(`/api/transaction_transfers?tx=0x${'1'.repeat(64)}`)).status, 503);
  assert.equal((await fetch('/rpc', { method: 'POST', body: GAS_PRICE })).status, 502);
  assert.deepEqual(await errors(), [
    '{route="/api/transaction_transfers",status="503"}',
    '{route="/rpc",status="502"}',
  ]);
  assert.equal(activity.read().totals.errors, 2);
});
