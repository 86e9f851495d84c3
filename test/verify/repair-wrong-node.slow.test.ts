/** A repair beside a node of another chain, or beside several nodes behind one address. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import { AnchorTable, type ChainAnchors } from '../../src/store/chain-anchors.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { differencesOf, repairFile, verifyAlone } from '../support/index/verify.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { resultOf, startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';

const START = 10;
const HEAD = 40;

function clearHash(path: string, block: number): void {
  const db = openDatabase(path);
  db.prepare('UPDATE blocks SET hash = zeroblob(32), checksum = 0 WHERE number = ?').run(block);
  db.close();
}

function anchorsOf(path: string): ChainAnchors {
  const db = openIndexForReading(path);
  const anchors = new AnchorTable(db).read();
  db.close();
  return anchors;
}

function write(path: string, change: (writer: IndexWriter) => void): void {
  const writer = new IndexWriter(path, { cacheMb: 8 });
  change(writer);
  writer.close();
}

/** Ends a repair that would wait forever for blocks of the right chain. */
function endWaiting(text: string, stop: AbortController): void {
  if (text.startsWith('waiting')) stop.abort(new Error(text));
}

function nodeOf(t: TestContext, seed: number): Promise<ReplayNode> {
  const chain = [...generateChain({ seed, blocks: HEAD, txPerBlock: 10 }).blocks];
  return startNode(t, { chain, chainId: 7 });
}

async function indexOf(t: TestContext, url: string, startBlock: number): Promise<string> {
  return buildIndex({ url, dir: tempDir(t), startBlock });
}

const CASES: [what: string, damagedBlock: number | null, range: [number, number] | null][] = [
  ['from the first block on', null, [START, HEAD]],
  ['of a damaged block', 19, null],
  ['of a damaged first block', START, null],
  ['of a damaged block in a range', 19, [19, 19]],
];

test('a repair beside a node of another chain changes nothing', async (t) => {
  const right = await nodeOf(t, 1);
  const wrong = await nodeOf(t, 2);
  const path = await indexOf(t, right.url, START);
  const whole = dumpIndex(path);
  const anchors = anchorsOf(path);
  for (const [what, damagedBlock, range] of CASES) {
    const [first, last] = range ?? [null, 0];
    if (damagedBlock !== null) clearHash(path, damagedBlock);
    const before = dumpIndex(path);
    await assert.rejects(
      repairFile(path, wrong.url, first, last, endWaiting),
      /the node is on another chain: its block \d+ is 0x[0-9a-f]{64}, the index has 0x[0-9a-f]{64}/,
      what,
    );
    assert.deepEqual(dumpIndex(path), before, what);
    await repairFile(path, right.url, first, last);
    assert.deepEqual(dumpIndex(path), whole, what);
    assert.deepEqual(anchorsOf(path), anchors, what);
  }
});

test('damage to the chain identity is found, and repaired from a node of the right chain only', async (t) => {
  const [right, wrong] = [await nodeOf(t, 1), await nodeOf(t, 2)];
  const path = await indexOf(t, right.url, START);
  write(path, (writer) => writer.setGenesis(`0x${'22'.repeat(32)}`));
  const { firstParent } = anchorsOf(path);
  const found = async () => differencesOf(await verifyAlone(path));
  // The generated chain has no block 0, so a start beside a node with a block 0 records it.
  // The daemon proves the node's tag again.
  const expected: ChainAnchors = { genesis: null, firstParent, finalized: null, reorgFrom: null };
  for (const [column, value] of [
    ['genesis', "CAST(x'01' || substr(genesis, 2) AS BLOB)"],
    ['first_parent', "CAST(substr(first_parent, 1, 31) || x'01' AS BLOB)"],
    ['finalized', '7'],
    ['reorg_from', '39'],
  ]) {
    const db = openDatabase(path);
    db.exec(`UPDATE chain_anchors SET ${column} = ${value}`);
    db.close();
    const difference = 'checksums: row 1 of chain_anchors does not match its checksum';
    assert.deepEqual(await found(), [difference], column);
    write(path, (writer) => writer.setFinalized(30));
    assert.deepEqual(await found(), [difference], `${column}, after a write`);
    await assert.rejects(repairFile(path, wrong.url, null, 0), /another chain/);
    assert.equal((await repairFile(path, right.url, null, 0)).rebuilt, false);
    assert.deepEqual(anchorsOf(path), expected, column);
    assert.deepEqual(await found(), [], column);
  }
});

test('a repair whose balancer shows it blocks of another chain removes nothing', async (t) => {
  const right = await nodeOf(t, 1);
  const wrong = await nodeOf(t, 2);
  const path = await indexOf(t, right.url, 1);
  const before = dumpIndex(path);
  const headers = new Map<unknown, unknown>();
  for (const number of [1, 20, HEAD]) {
    const tag = `0x${number.toString(16)}`;
    headers.set(tag, await resultOf(right.url, 'eth_getBlockByNumber', tag, false));
  }
  const node = await startMisbehavingNode({ upstream: wrong.url });
  t.after(() => node.close());
  node.misbehave({
    replace: (method, [tag, isWhole], result) =>
      method === 'eth_getBlockByNumber' && isWhole === false ? (headers.get(tag) ?? result) : result,
  });
  await assert.rejects(
    repairFile(path, node.url, 20, 20, endWaiting),
    /the node's block 20 changed while it was traced/,
  );
  assert.deepEqual(dumpIndex(path), before);
});

test('a damaged block is read only from a node whose chain connects, or branches off where a range says', async (t) => {
  const chain = [...generateChain({ seed: 3, blocks: 140, txPerBlock: 4 }).blocks];
  const node = await startNode(t, { chain, finalizedLag: 1_000 });
  const dir = tempDir(t);
  const path = await buildIndex({ url: node.url, dir, startBlock: 1 });
  const whole = dumpIndex(path);
  clearHash(path, 5);
  const damaged = dumpIndex(path);
  const replaced = node.fork(3);
  await assert.rejects(repairFile(path, node.url, null, 0, endWaiting), /is not the one that was indexed/);
  await assert.rejects(repairFile(path, node.url, 5, 5, endWaiting), /is not the one that was indexed/);
  assert.deepEqual(dumpIndex(path), damaged);
  node.fork(3, replaced);
  await repairFile(path, node.url, null, 0); // a later intact block proves the chain
  assert.deepEqual(dumpIndex(path), whole);
  clearHash(path, 5);
  node.fork(3);
  assert.equal((await repairFile(path, node.url, 3, 5)).replacedFrom, 3);
});
