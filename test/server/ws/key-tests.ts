/** What keys do to the sockets that they open: limits, allow lists, and their end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { KeyStore } from '../../../src/access/keys.ts';
import { StreamClient } from '../../streams/client.ts';
import type { Cleanup } from '../../support/cleanup.ts';
import type { TestDaemon } from '../../support/daemon/daemon.ts';
import { waitFor } from '../../support/wait.ts';
import { refusal } from './refusal.ts';

export const OPERATOR_TOKEN = 'operator of the test';

interface Endpoints {
  owner: Cleanup;
  daemon(): TestDaemon;
  keys(): KeyStore;
  /** A new key that the daemon already knows. */
  newKey(tier?: string, allow?: string[]): Promise<{ key: string; id: number }>;
}

/** Declares the tests in the suite of a daemon, whose operator's token is `OPERATOR_TOKEN`. */
export function testKeys({ owner, daemon, keys, newKey }: Endpoints): void {
  test('the sixth connection of a key is refused until another one closes', async () => {
    const { key } = await newKey();
    const paths = ['/ws', '/ws/signals', '/ws', '/ws', '/ws/signals'];
    const clients = await Promise.all(paths.map((path) => StreamClient.open(owner, daemon().url, key, path)));
    const refused = await refusal(`${daemon().url}/ws`, { headers: { 'X-API-Key': key } });
    assert.equal(refused.status, 429);
    assert.deepEqual(JSON.parse(refused.body).error, {
      code: -32005,
      message: 'connection limit reached: 5 per API key',
    });
    clients[0]?.socket.close();
    await clients[0]?.closed();
    clients.push(await StreamClient.open(owner, daemon().url, key));
    for (const { socket } of clients) socket.close();
  });

  test('messages count against the rate of the key', async () => {
    const { key } = await newKey('free');
    await waitFor(
      async () =>
        (
          await fetch(`${daemon().url}/api/wallet_summary?address=0x${'0'.repeat(40)}`, {
            headers: { 'X-API-Key': key },
          })
        ).headers.get('ratelimit-remaining') === '4',
      { what: 'a full bucket', everyMs: 300 },
    );
    const client = await StreamClient.open(owner, daemon().url, key);
    const calls = Array.from({ length: 60 }, (_, i) =>
      i % 2 ? client.call('eth_chainId') : client.call('eth_unsubscribe', '0x0'),
    );
    const outcomes = await Promise.allSettled(calls);
    const limited = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' && outcome.reason.code === -32005 ? outcome.reason : [],
    );
    assert.ok(limited.length >= 40, `${limited.length} were refused`);
    for (const error of limited) assert.ok(error.data.retryAfter >= 1);
    client.socket.close();
  });

  test('a key with an allow list calls and subscribes within it, and a change closes its sockets', async () => {
    const { key, id } = await newKey('unlimited', [
      'eth_chainId',
      'eth_subscribe',
      'GET /api/wallet_summary',
    ]);
    const refused = await refusal(`${daemon().url}/ws/signals`, { headers: { 'X-API-Key': key } });
    assert.equal(refused.status, 403);
    assert.equal(JSON.parse(refused.body).error.code, -32601);
    const client = await StreamClient.open(owner, daemon().url, key);
    assert.match(await client.call('eth_chainId'), /^0x/);
    await client.call('eth_subscribe', 'newHeads');
    await assert.rejects(client.call('eth_blockNumber'), {
      code: -32601,
      message: /may not call eth_blockNumber/,
    });
    await assert.rejects(client.call('eth_unsubscribe', '0x1'), { code: -32601 });

    const url = `${daemon().url}/rpc`;
    const calls = ['eth_blockNumber', 'eth_chainId'].map((method, id) => ({ jsonrpc: '2.0', id, method }));
    const post = (body: object) =>
      fetch(url, { method: 'POST', headers: { 'X-API-Key': key }, body: JSON.stringify(body) });
    const [first, second] = z.array(z.looseObject({})).parse(await (await post(calls)).json());
    assert.equal(z.object({ code: z.number() }).parse(first?.error).code, -32601);
    assert.match(String(second?.result), /^0x/);
    assert.equal((await post({ jsonrpc: '2.0', method: 'eth_blockNumber' })).status, 204, 'a notification');

    keys().update(id, { allow: ['GET /api/wallet_summary'] });
    assert.equal((await client.closed()).reason, 'the operator changed what this API key may use; reconnect');
    assert.equal((await refusal(`${daemon().url}/ws`, { headers: { 'X-API-Key': key } })).status, 403);
  });

  test('a revoked key loses its connections within a second', async () => {
    const took: number[] = [];
    // The machine may be busy with another test for a moment, but not every time.
    while (Math.min(...took) >= 1_000 && took.length < 20) {
      const { key, id } = await newKey();
      const clients = [
        await StreamClient.open(owner, daemon().url, key),
        await StreamClient.open(owner, daemon().url, key, '/ws/signals'),
      ];
      const began = performance.now();
      keys().revoke(id);
      for (const client of clients) {
        assert.deepEqual(await client.closed(), { code: 1008, reason: 'the API key is no longer valid' });
      }
      took.push(performance.now() - began);
    }
    assert.ok(Math.min(...took) < 1_000, `${took} ms`);
  });

  test('the operator sees a socket with its address, its key in use and its calls, and closes it', async () => {
    const operate = async (path: string, init: RequestInit = {}) => {
      const headers = { Authorization: `Bearer ${OPERATOR_TOKEN}` };
      return JSON.parse(
        await (await fetch(`${daemon().url}/admin/api/${path}`, { ...init, headers })).text(),
      );
    };
    const { totals: before } = (await operate('overview')).activity;
    const { key, id } = await newKey();
    const client = await StreamClient.open(owner, daemon().url, key);
    await client.call('eth_chainId', []);
    await waitFor(async () => (await operate('overview')).status.lagBlocks !== null, {
      what: 'the head of the node',
    });
    const { activity, version, status } = await operate('overview');
    assert.ok(activity.totals.rpcCalls > before.rpcCalls && activity.totals.requests > before.requests);
    assert.ok(activity.samples.length > 0 && activity.residentBytes > 0);
    assert.equal(typeof version + typeof status.lagBlocks, 'stringnumber');
    const { keys: listed } = await operate('keys');
    const { lastUsedAt } = listed.find((one: { id: number }) => one.id === id);
    assert.ok(Date.now() - Date.parse(lastUsedAt) < 60_000, lastUsedAt);
    const { sockets } = await operate('sockets');
    const socket = sockets.find(({ keyId }: { keyId: number }) => keyId === id);
    assert.equal(socket.address, '127.0.0.1');
    await operate(`sockets/${socket.id}/close`, { method: 'POST', body: '{}' });
    assert.deepEqual(await client.closed(), { code: 1008, reason: 'the operator closed this socket' });
    assert.equal(
      (await operate(`sockets/${socket.id}/close`, { method: 'POST', body: '{}' })).error.code,
      'not_found',
    );
  });
}
