import assert from 'node:assert/strict';
import { copyFileSync, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import { ReadPool, startReader } from '../../src/api/read-pool/read-pool.ts';
import type { IndexStatus } from '../../src/model/index-status.ts';
import { Snapshot } from '../../src/query/snapshot.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { StreamClient } from '../streams/client.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { startTestDaemon, type TestDaemon } from '../support/daemon/daemon.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { damagePage, leafPages, readWallets } from '../support/index/damaged-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { differencesOf, repairFile, verifyFile } from '../support/index/verify.ts';
import { SILENT } from '../support/logs.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const HEAD = 60;
const CHAIN = [...generateChain({ seed: 5, blocks: 120, txPerBlock: 40, wallets: 2_000 }).blocks];

interface FinishedIndex {
  node: ReplayNode;
  dataDir: string;
  path: string;
}

/** An index at HEAD. Each test damages a copy. */
let whole: string;
const cleanup = suiteCleanup();
before(async () => {
  const { url } = await startNode(cleanup, { chain: CHAIN, head: HEAD });
  whole = await buildIndex({ url, dir: tempDir(cleanup), startBlock: 1 });
});

/** A closed index at HEAD, and a node of its chain. */
async function finishedIndex(t: TestContext): Promise<FinishedIndex> {
  const node = await startNode(t, { chain: CHAIN, head: HEAD });
  const dataDir = tempDir(t);
  const path = join(dataDir, 'index.db');
  copyFileSync(whole, path);
  return { node, dataDir, path };
}

/** Damages the leaf of a tree at this fraction of its keys. */
function damageLeaf(path: string, tree: string, at: number): () => void {
  const pages = leafPages(path, tree);
  return damagePage(path, pages[Math.floor((pages.length - 1) * at)]!);
}

interface Started extends TestDaemon {
  logs: string[];
  /** Status of a GET of this wallet's summary. */
  summary(address: string): Promise<number>;
  status(): Promise<IndexStatus>;
}

async function startDaemon(t: TestContext, { node, dataDir }: FinishedIndex): Promise<Started> {
  const logs: string[] = [];
  const note = (fields: object, msg: string) => logs.push(`${msg} ${JSON.stringify(fields)}`);
  const daemon = await startTestDaemon(t, {
    dataDir,
    flags: { '--node-http': node.url },
    log: { debug() {}, info() {}, warn: note, error: note },
  });
  return {
    ...daemon,
    logs,
    async summary(address) {
      const headers = { 'X-API-Key': daemon.key };
      const response = await fetch(`${daemon.url}/api/wallet_summary?address=${address}`, { headers });
      await response.text();
      return response.status;
    },
    status: async () => (await (await fetch(`${daemon.url}/status`)).json()) as IndexStatus,
  };
}

test('a damaged page answers 500 for its wallets, everything else is served, and the damage is reported', async (t) => {
  const finished = await finishedIndex(t);
  const { path } = finished;
  const wallets = readWallets(path).readable;
  const repair = damageLeaf(path, 'wallets', 0.5);
  const { readable, damaged } = readWallets(path);
  assert.ok(damaged.length > 10 && readable.length > 100);
  const victim = wallets[damaged[0]! - 1]!;
  const daemon = await startDaemon(t, finished);
  await daemon.reaches(HEAD);
  await waitFor(async () => (await fetch(`${daemon.url}/readyz`)).status === 200, { what: 'readiness' });
  for (let i = 0; i < 50; i++) {
    assert.deepEqual(await Promise.all([daemon.summary(victim), daemon.summary(readable[i]!)]), [500, 200]);
  }
  const advice =
    /^index\.db is damaged or its disk fails \(.*SQLITE_CORRUPT\): .*stop atlas-node, move it away and start again/;
  assert.match((await daemon.status()).readFailure ?? '', advice);
  const ready = await fetch(`${daemon.url}/readyz`);
  assert.equal(ready.status, 503);
  assert.match(((await ready.json()) as { reason: string }).reason, advice);
  assert.equal((await fetch(`${daemon.url}/healthz`)).status, 200);
  const lines = daemon.logs.filter((line) => /damaged|malformed|request failed/.test(line));
  assert.equal(lines.length, 1, lines.join('\n'));

  repair();
  assert.equal(await daemon.summary(victim), 200, 'no page of before the repair is left in the reader');
  await waitFor(async () => (await fetch(`${daemon.url}/readyz`)).status === 200, {
    what: 'readiness again',
  });
});

test('a read thread survives damage and answers the next request', async (t) => {
  const { path } = await finishedIndex(t);
  const wallets = readWallets(path).readable;
  damageLeaf(path, 'wallets', 0.5);
  const { readable, damaged } = readWallets(path);
  const db = openIndexForReading(path);
  const snapshot = new Snapshot(db);
  const head = snapshot.head()!;
  t.after(() => {
    snapshot.release();
    db.close();
  });
  let started = 0;
  const pool = new ReadPool((onMessage) => {
    started++;
    return startReader({ indexPath: path, nativeSymbol: 'MON', maxReorg: 128 }, SILENT, onMessage);
  });
  t.after(() => pool.close());
  const ask = (address: string) => pool.run('/api/wallet_summary', { address }, 5, head);
  for (let i = 0; i < 5; i++) {
    await assert.rejects(ask(wallets[damaged[i]! - 1]!), { code: 'SQLITE_CORRUPT' });
    assert.match((await ask(readable[i]!)).body, /"txCount"/);
  }
  assert.equal(started, 1);
});

test('a replay over a damaged page closes its own connection, and live streams continue', async (t) => {
  const finished = await finishedIndex(t);
  damageLeaf(finished.path, 'transfers', 0.5);
  const daemon = await startDaemon(t, finished);
  await daemon.reaches(HEAD);
  const open = () => StreamClient.open(t, daemon.url, daemon.key, '/ws/signals');
  const live = await open();
  const { results } = await live.signals({});
  for (let i = 0; i < 3; i++) {
    const replaying = await open();
    const replayed = await replaying.signals({ fromBlock: 1 });
    assert.equal((await replaying.closed()).code, 1011);
    assert.ok(replayed.results.length > 0, 'what lies before the damage arrives');
  }
  finished.node.setHead(HEAD + 3);
  await daemon.reaches(HEAD + 3);
  const expected = CHAIN[HEAD + 2]!.number;
  await waitFor(() => results.some((result) => blockOf(result) === expected), { what: 'the newest block' });
  assert.match((await daemon.status()).readFailure ?? '', /is damaged/);
});

function blockOf(result: unknown): number | undefined {
  return (result as { blockNumber?: number }).blockNumber;
}

/** Waits until the daemon reports that damage has stopped the indexing, and checks that it still serves. */
async function assertIndexingStopped(daemon: Started, readable: string): Promise<void> {
  let ended = false;
  daemon.daemon.closed.then(
    () => undefined,
    () => {
      ended = true;
    },
  );
  await waitFor(async () => (await daemon.status()).phase === 'paused', { what: 'the indexing to stop' });
  const { reason } = await daemon.status();
  assert.match(reason ?? '', /^indexing has stopped: index\.db is damaged .*move it away and start again/);
  assert.equal(await daemon.summary(readable), 200);
  assert.equal((await fetch(`${daemon.url}/readyz`)).status, 503);
  assert.equal(ended, false, 'the daemon goes on');
  assert.equal(daemon.logs.filter((line) => line.startsWith('indexing has stopped')).length, 1);
}

test('damage found by the indexer stops the indexing, not the daemon', async (t) => {
  const finished = await finishedIndex(t);
  damageLeaf(finished.path, 'addresses', 0.2); // read for every address in the next blocks
  damageLeaf(finished.path, 'addresses', 0.8);
  const { readable } = readWallets(finished.path);
  const daemon = await startDaemon(t, finished);
  await daemon.reaches(HEAD);
  finished.node.setHead(HEAD + 50);
  const answering = await waitFor(
    async () => {
      for (const address of readable) if ((await daemon.summary(address)) === 200) return address;
      return null;
    },
    { what: 'a wallet that can be read' },
  );
  await assertIndexingStopped(daemon, answering);
  await daemon.daemon.close();
});

test('a repair does not claim to have fixed a damaged page', async (t) => {
  const { node, path } = await finishedIndex(t);
  damageLeaf(path, 'wallets', 0.5);
  await assert.rejects(
    repairFile(path, node.url, HEAD - 5, HEAD).then(() => verifyOrThrow(path, node.url)),
    /damaged|malformed|cannot be read/,
  );
});

/** Throws the findings of a verification. */
async function verifyOrThrow(path: string, http: string): Promise<void> {
  const report = await verifyFile({ path, http });
  if (report.differences > 0) throw new Error(differencesOf(report).join());
}

test('both remedies work: restoring a backup, or starting without an index', async (t) => {
  const finished = await finishedIndex(t);
  const { path } = finished;
  const sound = dumpIndex(path);
  damageLeaf(path, 'wallets', 0.5);
  const daemon = await startDaemon(t, finished);
  await daemon.reaches(HEAD);
  await daemon.daemon.close();
  for (const suffix of ['', '-wal', '-shm'])
    if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.bad${suffix}`);
  const rebuilt = await startDaemon(t, finished);
  await rebuilt.reaches(HEAD);
  await rebuilt.daemon.close();
  assert.deepEqual(dumpIndex(path), sound);
});
