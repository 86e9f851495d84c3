import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openKeyStore } from '../../src/access/keys.ts';
import { CallError, StreamClient } from '../streams/client.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { startGeneratedNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';

const QUOTA = 6;

test('REST, RPC and WebSocket messages draw on one quota, to the request, also after a restart', async (t) => {
  const { node } = await startGeneratedNode(t, { blocks: 5, txPerBlock: 2 });
  const dataDir = join(tempDir(t), 'data');
  mkdirSync(dataDir);
  const keys = openKeyStore(join(dataDir, 'keys.db'));
  const { key } = keys.create({ name: 'app', tier: 'free' });
  keys.close();
  const start = () =>
    startTestDaemon(t, {
      dataDir,
      flags: { '--node-http': node.url },
      env: {
        ATLAS_TIERS__FREE__REQUESTS_PER_MONTH: String(QUOTA),
        ATLAS_TIERS__FREE__REQUESTS_PER_SECOND: '0',
      },
    });
  const first = await start();
  await first.reaches(5);
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const rest = (url: string) => fetch(`${url}/api/whale_transfers`, { headers });
  const rpc = (url: string, calls: number) => {
    const call = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
    return fetch(`${url}/rpc`, {
      method: 'POST',
      headers,
      body: JSON.stringify(calls === 1 ? call : Array(calls).fill(call)),
    });
  };

  const leftAfter = async (response: Promise<Response>) =>
    (await response).headers.get('ratelimit-remaining');
  assert.equal(await leftAfter(rest(first.url)), '5');
  assert.equal(await leftAfter(rpc(first.url, 1)), '4');
  assert.equal(await leftAfter(rpc(first.url, 2)), '2');
  const client = await StreamClient.open(t, first.url, key);
  await client.call('eth_chainId');
  assert.equal((await rpc(first.url, 2)).status, 429, 'a batch of two with one request left');
  assert.equal(await leftAfter(rest(first.url)), '0');

  const refusedBy = async (url: string, socket: StreamClient) => {
    assert.equal((await rest(url)).status, 429);
    assert.equal((await rpc(url, 1)).status, 429);
    await assert.rejects(
      socket.call('eth_chainId'),
      (error) => error instanceof CallError && error.code === -32005,
    );
  };
  await refusedBy(first.url, client);
  await first.daemon.close();
  const second = await start();
  await second.reaches(5);
  await refusedBy(second.url, await StreamClient.open(t, second.url, key));
});
