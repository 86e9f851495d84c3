/**
 * What the log says of nodes that cannot be used: another chain behind the WebSocket, one replaced, one with a login.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import { Progress } from '../../src/indexer/progress.ts';
import { watchHeads } from '../../src/indexer/watch-heads.ts';
import { RpcClient } from '../../src/node/client.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { logTo } from '../support/logs.ts';
import { startSwitchingProxy } from '../support/nodes/http-proxy.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const INDEXED = 143;
const OTHER = 10_143;

function nodeOf(t: TestContext, chainId: number): Promise<ReplayNode> {
  const chain = [...generateChain({ seed: chainId, blocks: 20, txPerBlock: 4 }).blocks];
  return startNode(t, { chain, chainId });
}

function watch(t: TestContext, http: string, ws: string): string[] {
  const client = new RpcClient({ url: http, timeoutMs: 2_000, maxSockets: 2, maxBatch: 8 });
  const logs: string[] = [];
  const watched = { wsUrl: ws, pollMs: 60_000, chainId: INDEXED };
  const context = { client, progress: new Progress(5), log: logTo(logs) };
  const heads = watchHeads(context, watched, new AbortController().signal);
  t.after(async () => {
    await heads.close();
    await client.close();
  });
  return logs;
}

test('node_ws is blamed only where node_http still leads to the indexed chain', async (t) => {
  const indexed = await nodeOf(t, INDEXED);
  const other = await nodeOf(t, OTHER);
  const replaced = watch(t, other.url, other.wsUrl);
  const wrongSocket = watch(t, indexed.url, other.wsUrl);
  await waitFor(() => wrongSocket.length > 0, { what: 'the error about node_ws' });
  assert.match(wrongSocket.join('\n'), /^error node_ws and node_http lead to different chains/);
  assert.deepEqual(replaced, []);
});

test('a node replaced by one of another chain is said to be replaced, and one that never fitted is not', async (t) => {
  const indexed = await nodeOf(t, INDEXED);
  const other = await nodeOf(t, OTHER);
  const proxy = await startSwitchingProxy(t, indexed.url);
  const dir = tempDir(t);
  const indexer = startIndexer(t, { http: proxy.url, dir });
  await indexer.reaches(20);
  proxy.switchTo(other.url);
  await waitFor(() => indexer.status().nodeChain === 'another_chain', { what: 'the pause' });
  const { reason } = indexer.status();
  assert.match(
    reason ?? '',
    /on another chain: .*the node at this address was replaced while the daemon ran/,
  );
  await indexer.client.stop();
  const fresh = startIndexer(t, { http: other.url, dir, others: [other.url] });
  await waitFor(() => fresh.status().nodeChain === 'another_chain', { what: 'the refusal' });
  assert.doesNotMatch(fresh.status().reason ?? '', /replaced/);
  assert.equal(indexer.logs.filter((line) => line.startsWith('error indexing is paused')).length, 1);
});

test('a node that demands a login is told from one that is down', async (t) => {
  const node = createServer((_, response) => response.writeHead(401).end('who are you')).listen(
    0,
    '127.0.0.1',
  );
  await once(node, 'listening');
  t.after(() => {
    node.close();
    node.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  const indexer = startIndexer(t, { http: url, dir: tempDir(t) });
  await waitFor(() => indexer.logs.length > 0, { what: 'a line' });
  assert.match(indexer.logs[0] ?? '', /the node demands a key or a password: put it into node_http, as in/);
});
