/** Runs a daemon on a disk that fails, recovers and fails in another way. See `--help`. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IndexStatus } from '../../src/model/index-status.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { scriptCleanup } from '../../test/support/cleanup.ts';
import { askApi } from '../../test/support/clients/ask-api.ts';
import { daemonProcess } from '../../test/support/daemon/daemon-process.ts';
import { freePort } from '../../test/support/free-port.ts';
import { dumpIndex } from '../../test/support/index/dump.ts';
import { startIndexer } from '../../test/support/index/indexer.ts';
import { verifyFile } from '../../test/support/index/verify.ts';
import { startGeneratedNode } from '../../test/support/nodes/replay.ts';
import { waitFor } from '../../test/support/wait.ts';
import { readOptions } from '../options.ts';
import { type FaultKind, FaultyDisk } from './disk-faults/faulty-disk.ts';
import { Traffic } from './disk-faults/traffic.ts';

const options = readOptions(
  'Runs a daemon on a disk that fails on demand (reads, writes, syncs, no room, torn writes; needs cc), ' +
    'checks every answer, and compares its index in the end. A failure leaves the files.',
  {
    rounds: { kind: 'whole', about: 'rounds of all faults', default: 2, range: [1, 1_000] },
    seed: { kind: 'whole', about: 'of the chain', default: 1, range: [0, 1_000_000] },
  },
);

/** The kind of failure, and one in how many calls fails. */
const FAULTS: readonly (readonly [kind: FaultKind, share: number])[] = [
  ['read', 1],
  ['read', 7],
  ['write', 1],
  ['write', 5],
  ['sync', 1],
  ['full', 1],
  ['full', 9],
  ['torn', 1],
  ['torn', 4],
];
const START = 20;
const BLOCKS_PER_FAULT = 12;
const FAULT_MS = 2_500;

const blocks = START + options.rounds * FAULTS.length * BLOCKS_PER_FAULT * 2;
const dir = mkdtempSync(join(tmpdir(), 'atlas-disk-faults-'));
const owner = scriptCleanup();
const chain = { seed: options.seed, blocks, txPerBlock: 40, wallets: 1_000 };
const { node } = await startGeneratedNode(owner, chain, { head: blocks });

const fresh = startIndexer(owner, {
  http: node.url,
  dir: mkdtempSync(join(dir, 'fresh-')),
  index: { startBlock: 1 },
});
await fresh.reaches(blocks);
await fresh.client.stop();
const ask = askApi(owner, fresh.path);
const freshDb = openDatabase(fresh.path, { readonly: true });
owner.after(() => void freshDb.close());
const addresses = freshDb
  .prepare<[], string>("SELECT '0x' || lower(hex(address)) FROM wallets WHERE id BETWEEN 1 AND 300")
  .pluck()
  .all();
const lastTransfer = freshDb
  .prepare<[number], number>('SELECT last_transfer FROM blocks WHERE number = ?')
  .pluck();

const dataDir = mkdtempSync(join(dir, 'data-'));
const disk = new FaultyDisk(dir);
const daemon = daemonProcess(
  owner,
  { ...disk.env, ATLAS_INDEX__BATCH_TRANSFERS: '500' },
  { port: await freePort(), dir: dataDir, flags: ['--node-http', node.url, '--node-ws', node.wsUrl] },
);

async function statusOf(): Promise<IndexStatus> {
  const response = await fetch(`${daemon.url}/status`, { signal: AbortSignal.timeout(10_000) });
  return (await response.json()) as IndexStatus;
}

const said = (status: IndexStatus | null): string | undefined =>
  status?.reason ??
  status?.readFailure ??
  /"msg":"([^"]*(?:cannot be|has stopped)[^"]*)"/.exec(daemon.stderr())?.[1];

node.setHead(START);
await daemon.start();
await waitFor(async () => (await statusOf()).head?.number === START, { what: 'the start' });
const traffic = new Traffic(() => daemon.url, daemon.key, addresses, {
  async transfersUpTo(address, block) {
    const cursor = String((lastTransfer.get(block) ?? 0) + 1);
    return (await ask('address_transfers', { address, limit: '5', include_internal: 'true', cursor }))
      .transfers;
  },
});

let fault = 0;
for (let round = 1; round <= options.rounds; round++) {
  for (const [kind, share] of FAULTS) {
    fault++;
    const name = `${kind} 1/${share}`;
    const before = new Map(traffic.statuses);
    disk.begin(kind, share);
    let words: string | undefined;
    for (let i = 0; i < BLOCKS_PER_FAULT; i++) {
      node.mine();
      await sleep(FAULT_MS / BLOCKS_PER_FAULT);
      words ??= said(await statusOf().catch(() => null));
    }
    const { child } = daemon;
    // A failing sync only leaves pages in the WAL, from where they are read.
    if (share === 1 && kind !== 'sync' && child.exitCode === null)
      words = await waitFor(async () => words ?? said(await statusOf()), { what: `word of ${name}` });
    const isKilled = fault % 3 === 0;
    if (isKilled) child.kill('SIGKILL');
    let ending = '';
    if (isKilled || child.exitCode !== null) {
      const { code, stderr } = await daemon.ended;
      ending = isKilled ? ', killed' : `, ended with ${code}: ${stderr.trim().split('\n').at(-1)}`;
    }
    disk.end();
    if (ending !== '') await daemon.start();
    const head = node.mine(BLOCKS_PER_FAULT);
    await waitFor(async () => (await statusOf()).head?.number === head, {
      what: `block ${head} after ${name}; ${JSON.stringify(await statusOf())}`,
    });
    assert.deepEqual(traffic.wrong, [], name);
    const answers = [...traffic.statuses].map(
      ([code, count]) => `${count - (before.get(code) ?? 0)} x ${code}`,
    );
    console.log(`${name}${ending}: answers ${answers.join(', ')}; it said: ${words ?? 'nothing'}`);
  }
}
await traffic.stop();
await waitFor(
  async () => {
    const { reason, readFailure } = await statusOf();
    return reason === null && readFailure === null;
  },
  { what: 'the status to forget the faults', timeoutMs: 200_000 },
);
const head = node.setHead(blocks);
await waitFor(async () => (await statusOf()).head?.number === head, { what: 'the end of the chain' });
assert.equal(await daemon.end('SIGTERM'), 0);
const path = join(dataDir, 'index.db');
assert.deepEqual(dumpIndex(path), dumpIndex(fresh.path));
const { differences } = await verifyFile({ path, http: node.url });
assert.equal(differences, 0);
console.log(`all rows equal after ${fault} faults; no answer was wrong; verify finds no difference`);
await owner.close();
rmSync(dir, { recursive: true });
