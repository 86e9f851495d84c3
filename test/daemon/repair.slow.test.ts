/** Damage, copy, repair: then every copy and every consumer has what a fresh index has. */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { exportTable } from '../../src/export/export.ts';
import { AnchorTable } from '../../src/store/chain-anchors.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { StreamClient } from '../streams/client.ts';
import { type Cleanup, nestedCleanup } from '../support/cleanup.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { repairFile } from '../support/index/verify.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startNode } from '../support/nodes/replay.ts';
import { HookReceiver, keptEvents, type Received } from '../support/runs/hook-receiver.ts';
import { startPostgres } from '../support/sink/postgres.ts';
import { startSink } from '../support/sink/sink.ts';
import { expectedSinkRows, storedSinkRows } from '../support/sink/sink-rows.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const HEAD = 40;
const FINAL = 39;

/** Of this block, a node forgot the last log of each receipt. */
const FORGOTTEN = 12;
/** In this block, the disk changed an amount. */
const CHANGED = 20;

/** An index with both faults, on which a daemon starts all the same. */
async function wrongIndex(t: Cleanup, upstream: string): Promise<string> {
  const node = await startMisbehavingNode({ upstream });
  t.after(() => node.close());
  node.misbehave({
    replace: (method, params, result) =>
      method === 'eth_getBlockReceipts' && Number(params[0]) === FORGOTTEN
        ? (result as { logs: unknown[] }[]).map((receipt) => ({
            ...receipt,
            logs: receipt.logs.slice(0, -1),
          }))
        : result,
  });
  const path = await buildIndex({ url: node.url, dir: tempDir(t), startBlock: 1 });
  const db = openDatabase(path);
  const { changes } = db
    .prepare(/* sql */ `UPDATE transfers SET value = x'0909' WHERE id = (SELECT max(id) FROM transfers
      WHERE kind < 2 AND id <= (SELECT last_transfer FROM blocks WHERE number = ${CHANGED})
        AND id > (SELECT last_transfer FROM blocks WHERE number = ${CHANGED - 1}))`)
    .run();
  assert.equal(changes, 1);
  db.close();
  return path;
}

function finalize(path: string): void {
  const db = openDatabase(path);
  new AnchorTable(db).setFinalized(FINAL);
  db.close();
}

/** Exports final blocks, and returns what is in the folder. */
async function exported(path: string, out: string): Promise<string> {
  const db = openIndexForReading(path);
  const options = {
    table: 'transfers',
    format: 'parquet',
    out,
    blocksPerFile: 10,
    maxReorg: 128,
    follow: false,
    tradeLists: {},
  } as const;
  const events = { onProgress: () => undefined, onFile: () => undefined };
  await exportTable(db, options, events, new AbortController().signal).finally(() => db.close());
  const { files } = JSON.parse(readFileSync(join(out, 'transfers', 'manifest.json'), 'utf8'));
  return files.map(({ name, sha256 }: Record<string, string>) => `${name} ${sha256}`).join('\n');
}

interface Told extends Pick<Received, 'event' | 'direction' | 'txHash' | 'eventIndex' | 'blockHash'> {
  amount: string | null;
  valueWei: string | null;
  blockNumber: number;
  rewrites?: string;
}

function texts(events: readonly (Told | Received)[]): string[] {
  return events
    .map(({ event, direction, txHash, eventIndex, blockHash, amount, valueWei }) =>
      [txHash, eventIndex, event, direction, blockHash, amount ?? valueWei].join(' '),
    )
    .sort();
}

function signalsFrom(client: StreamClient, params: object) {
  return client.signals<Told>(params);
}

async function answer({ url, key }: TestDaemon, query: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/api/whale_transfers?limit=5${query}`, {
    headers: { 'X-API-Key': key, ...headers },
  });
  const mark = response.headers.get('x-indexed-rewrites');
  const at = `${response.headers.get('x-indexed-block')}:${response.headers.get('x-indexed-hash')}`;
  return {
    status: response.status,
    etag: response.headers.get('etag') ?? '',
    seen: mark === null ? at : `${at}:${mark}`,
    body: (await response.text()) || '{}',
  };
}

test('after a repair every copy and every consumer has what a fresh index has', async (context: TestContext) => {
  const cleanup = nestedCleanup(context);
  const chain = [...generateChain({ seed: 41, blocks: HEAD, txPerBlock: 12 }).blocks];
  const node = await startNode(cleanup, { chain });
  const fresh = await buildIndex({ url: node.url, dir: tempDir(cleanup), startBlock: 1 });
  const path = await wrongIndex(cleanup, node.url);
  const copy = join(tempDir(cleanup), 'index.db');
  copyFileSync(path, copy);
  const [out, freshOut] = [tempDir(cleanup), tempDir(cleanup)];
  for (const one of [fresh, path]) finalize(one);
  const freshFiles = await exported(fresh, freshOut);
  assert.notEqual(await exported(path, out), freshFiles);

  const postgres = await startPostgres(cleanup);
  const url = await postgres.createDatabase('repaired');
  const receiver = await HookReceiver.start(cleanup);
  const start = (owner: Cleanup) =>
    startTestDaemon(owner, {
      dataDir: join(path, '..'),
      flags: { '--node-http': node.url, '--node-ws': node.wsUrl },
      env: {
        ATLAS_SINK__POSTGRES__URL: url,
        ATLAS_SINK__POSTGRES__WALLETS: 'true',
        ATLAS_HOOKS__ALLOW_PRIVATE: 'true',
        ATLAS_ADMIN_TOKEN: 'operator of the test',
      },
    });
  const hasSunk = (index: string, what: string) => {
    const expected = expectedSinkRows(index, { wallets: true }).sort().join('\n');
    const isThere = async () => (await storedSinkRows(url).catch(() => [])).sort().join('\n') === expected;
    return waitFor(isThere, { what, everyMs: 200 });
  };

  // A daemon serves the wrong index.
  const first = await start(cleanup);
  const created = await fetch(`${first.url}/admin/api/hooks`, {
    method: 'POST',
    headers: { Authorization: 'Bearer operator of the test' },
    body: JSON.stringify({ url: receiver.url, name: 'all', fromBlock: 0 }),
  });
  assert.equal(created.status, 200);
  await first.reaches(HEAD);
  const before = await answer(first, '');
  const socket = await StreamClient.open(cleanup, first.url, first.key, '/ws/signals');
  const wrong = await signalsFrom(socket, { fromBlock: 0 });
  await waitFor(() => wrong.results.at(-1)?.blockNumber === HEAD, { what: 'the wrong signals' });
  await waitFor(() => keptEvents(receiver.events).length === wrong.results.length, {
    what: 'the wrong events',
  });
  await hasSunk(path, 'the wrong rows');
  await assert.rejects(repairFile(path, node.url, null, 0), /another atlas-node is writing .*stop it first/);
  await first.daemon.close();

  // The disk's fault is found first; the other one, lower, is the second rewrite.
  assert.ok((await repairFile(path, node.url, null, 0)).rebuilt);
  assert.equal((await repairFile(path, node.url, 10, 15)).replacedFrom, FORGOTTEN);
  assert.deepEqual(dumpIndex(path), dumpIndex(fresh));
  assert.deepEqual((await repairFile(copy, node.url, 10, 25)).rebuilt, true);
  assert.deepEqual(dumpIndex(copy), dumpIndex(fresh), 'a copy repaired apart');

  const second = await start(cleanup);
  await second.reaches(HEAD);
  const gone = await answer(second, `&seen=${before.seen}`);
  assert.equal(gone.status, 409);
  assert.equal(JSON.parse(gone.body).from, FORGOTTEN);
  const after = await answer(second, '', { 'If-None-Match': before.etag });
  assert.equal(after.status, 200);
  assert.equal((await answer(second, `&seen=${after.seen}`)).status, 200);
  const again = await StreamClient.open(cleanup, second.url, second.key, '/ws/signals');
  const lastOf = ({ blockNumber, blockHash, rewrites }: Told) => ({ blockNumber, blockHash, rewrites });
  await assert.rejects(
    signalsFrom(again, { lastSeen: lastOf(wrong.results.at(-1)!) }),
    /a repair has rewritten/,
  );
  const right = await signalsFrom(again, { fromBlock: 0 });
  await waitFor(() => right.results.at(-1)?.blockNumber === HEAD, { what: 'the right signals' });
  const resumed = await signalsFrom(again, { lastSeen: lastOf(right.results.at(-1)!) });
  await waitFor(() => resumed.results.length > 0, { what: 'the last block again' });
  await waitFor(
    () => JSON.stringify(texts(keptEvents(receiver.events))) === JSON.stringify(texts(right.results)),
    { what: 'the right events' },
  ).catch(() => assert.deepEqual(texts(keptEvents(receiver.events)), texts(right.results)));
  assert.notDeepEqual(texts(right.results), texts(wrong.results));
  await hasSunk(fresh, 'the right rows');
  await second.daemon.close();

  finalize(path);
  assert.equal(await exported(path, out), freshFiles);
  finalize(copy);
  assert.equal(await exported(copy, out), freshFiles, 'into the folder of the other copy');
  const writer = new IndexWriter(copy, { cacheMb: 8 });
  cleanup.after(() => writer.close());
  const sink = startSink(cleanup, { path: copy, writer }, { url, partitionBlocks: 10_000_000 });
  await waitFor(() => sink.client.status.rollbacks === 1, { what: 'the other copy' });
  await sink.equals();
});
