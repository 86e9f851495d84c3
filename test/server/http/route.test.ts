import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadAssets } from '../../../src/server/pages/assets.ts';
import { address } from '../../support/index/index-fixture.ts';
import { operate } from '../operating.ts';

const SUMMARY = `/api/wallet_summary?address=${address('alice')}`;

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
