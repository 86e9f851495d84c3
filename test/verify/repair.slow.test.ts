import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { readLastBlock } from '../../src/store/chain.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { prepareRewrites } from '../../src/store/rewrites.ts';
import { SkippedLogTable } from '../../src/store/skipped-logs.ts';
import { startOddChain } from '../support/chain/odd-tokens.ts';
import { PROGRAM, start } from '../support/daemon/command.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { differencesOf, repairFile, verifyFile } from '../support/index/verify.ts';
import { hideTransfers } from '../support/nodes/hide-transfers.ts';
import type { NodeCall } from '../support/nodes/misbehaving-node.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const HEAD = 40;

/** The arguments of `atlas-node verify` for Node.js. */
function verifyArgs(dir: string, url: string, ...more: string[]): string[] {
  return [PROGRAM, 'verify', '--data-dir', dir, '--node-http', url, ...more];
}

/** Runs `atlas-node verify` in its own process. */
async function verifyCommand(
  dir: string,
  url: string,
  ...more: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const args = verifyArgs(dir, url, ...more);
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, args)) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

function indexAll(url: string, dir: string): Promise<string> {
  return buildIndex({ url, dir, startBlock: 1 });
}

/** Starts an indexer on a file until it has reached the head. */
async function startOn(t: TestContext, url: string, dir: string): Promise<void> {
  const indexer = startIndexer(t, { http: url, dir });
  await indexer.reaches(HEAD);
  await indexer.client.stop();
}

/** A node that omits the last log of each non-empty receipt in blocks 12 to 15. */
async function forgetfulNode(t: TestContext, upstream: string): Promise<string> {
  const node = await startMisbehavingNode({ upstream });
  t.after(() => node.close());
  const isAbout = ({ method, params }: NodeCall): boolean =>
    method === 'eth_getBlockReceipts' && Number(params[0]) >= 12 && Number(params[0]) <= 15;
  node.misbehave({
    replace: (method, params, result) => {
      if (!isAbout({ method, params: [...params] })) return result;
      return hideTransfers(result, (at, count) => at === count - 1);
    },
  });
  return node.url;
}

test('detects an index built from wrong receipts, and repairs it to equal a fresh one', async (t) => {
  const chain = [...generateChain({ seed: 41, blocks: HEAD, txPerBlock: 16 }).blocks];
  const node = await startNode(t, { chain });
  const dir = tempDir(t);
  const path = await indexAll(await forgetfulNode(t, node.url), dir);
  const fresh = dumpIndex(await indexAll(node.url, tempDir(t)));
  assert.notDeepEqual(dumpIndex(path), fresh);

  const found = await verifyCommand(dir, node.url);
  assert.equal(found.code, 1);
  assert.match(
    found.stdout,
    /DIFFERENCE \(transfers\): transfer \d+ of block 12 is .* in the index and erc\w+ .* on the node/,
  );
  assert.match(found.stdout, /"atlas-node verify --repair 12\.\.15" to read those blocks again/);
  assert.match(found.stderr, /^atlas-node: the index differs in [4-9] places, named above\n$/);

  assert.deepEqual((await repairFile(path, node.url, 1, 11)).replacedFrom, null);
  assert.notDeepEqual(dumpIndex(path), fresh);
  const repaired = await verifyCommand(dir, node.url, '--repair', '10..15');
  assert.equal(repaired.code, 0, repaired.stderr);
  assert.match(repaired.stdout, /differed: transfer \d+ of block 12/);
  assert.match(repaired.stdout, /blocks 12 to 40 were indexed again; the last one is 0x/);
  assert.deepEqual(dumpIndex(path), fresh);

  const json = await verifyCommand(dir, node.url, '--json', '--sample', '50');
  assert.equal(json.code, 0, json.stderr);
  assert.equal((JSON.parse(json.stdout) as { differences: number }).differences, 0);
});

test('blocks that came wrong from a node and damage of the disk are repaired together', async (t) => {
  const chain = [...generateChain({ seed: 41, blocks: HEAD, txPerBlock: 16 }).blocks];
  const node = await startNode(t, { chain });
  const path = await indexAll(await forgetfulNode(t, node.url), tempDir(t));
  const db = openDatabase(path);
  db.exec('UPDATE transfers SET log = 9999 WHERE id = (SELECT last_transfer FROM blocks WHERE number = 13)');
  db.exec('UPDATE wallets SET transfers = transfers + 16 WHERE id = 2');
  const skipped = {
    block: 3,
    reason: 'frame_type',
    contract: null,
    logs: 7,
    txHash: `0x${'11'.repeat(32)}`,
  } as const;
  new SkippedLogTable(db).add(skipped);
  const counts = new SkippedLogTable(db).totals();
  db.close();
  assert.ok((await repairFile(path, node.url, 10, 20)).rebuilt);
  const rebuilt = openIndexForReading(path);
  assert.deepEqual(new SkippedLogTable(rebuilt).totals(), counts, 'a rebuild keeps what only the file knows');
  rebuilt.close();
  assert.deepEqual(dumpIndex(path), dumpIndex(await indexAll(node.url, tempDir(t))));
});

test('a repair of facts that others copy is a rewrite from the block of the earliest one on', async (t) => {
  const chain = [...generateChain({ seed: 41, blocks: HEAD, txPerBlock: 16 }).blocks];
  const node = await startNode(t, { chain });
  const whole = await indexAll(node.url, tempDir(t));
  const repairedFrom = async (...damages: string[]): Promise<number | undefined> => {
    const path = join(tempDir(t), 'index.db');
    copyFileSync(whole, path);
    const db = openDatabase(path);
    for (const damage of damages) assert.notEqual(db.prepare(damage).run().changes, 0);
    db.close();
    assert.ok((await repairFile(path, node.url, null, 0)).rebuilt);
    assert.deepEqual(dumpIndex(path), dumpIndex(whole));
    const repaired = openIndexForReading(path);
    const { first } = prepareRewrites(repaired)().at(-1) ?? {};
    repaired.close();
    return first;
  };
  const db = openIndexForReading(whole);
  const blockOf = (column: string, wallet: number) =>
    db
      .prepare(
        `SELECT min(number) FROM blocks WHERE last_transfer >= (SELECT ${column} FROM wallets WHERE id = ${wallet})`,
      )
      .pluck()
      .get();
  const id = Number(db.prepare('SELECT max(id) FROM wallets WHERE first_direct_after > 0').pluck().get());
  const [seen, funded] = [blockOf('first_transfer', id), blockOf('first_direct', id)];
  db.close();
  const sums = 'UPDATE wallets SET transfers = transfers + 16 WHERE id = 2';
  assert.equal(await repairedFrom(sums), HEAD, 'nobody copies a count');
  assert.equal(
    await repairedFrom(sums, `UPDATE wallets SET first_direct_after = NULL WHERE id = ${id}`),
    funded,
  );
  assert.equal(
    await repairedFrom(`UPDATE wallets SET first_transfer = first_transfer + 1 WHERE id = ${id}`),
    seen,
  );
});

test('a file whose repair failed is marked: verify names it and no daemon starts before its repair', async (t) => {
  const chain = [...generateChain({ seed: 46, blocks: HEAD, txPerBlock: 10 }).blocks];
  const node = await startNode(t, { chain });
  const dir = tempDir(t);
  const path = await indexAll(node.url, dir);
  const fresh = dumpIndex(path);
  const db = openDatabase(path);
  db.exec("UPDATE transfers SET value = x'09' WHERE id = (SELECT max(id) FROM transfers WHERE kind = 0)");
  db.close();
  const damaged = dumpIndex(path);
  node.setHead(1); // lacks the blocks that the repair needs
  const args = [PROGRAM, 'start', '--data-dir', dir, '--node-http', node.url, '--port', '0'];
  await assert.rejects(repairFile(path, node.url, null, 0), /cannot be read from the node/);
  assert.deepEqual(dumpIndex(path), damaged);
  const { code, stderr } = await start(t, [process.execPath, ...args], { cwd: dir }).ended;
  assert.equal(code, 1);
  assert.match(
    stderr,
    /index\.db is damaged \(.*\) and was not repaired: run "atlas-node verify --repair", or move the file away/,
  );
  node.setHead(HEAD);
  const marked = await verifyCommand(dir, node.url);
  assert.equal(marked.code, 1);
  assert.match(marked.stdout, /DIFFERENCE \(file\): a repair found the file damaged and did not finish/);
  const repaired = await verifyCommand(dir, node.url, '--repair');
  assert.equal(repaired.code, 0, repaired.stderr);
  assert.match(repaired.stdout, /the index was damaged: it was rebuilt/);
  assert.deepEqual(dumpIndex(path), fresh);
  const after = await verifyCommand(dir, node.url);
  assert.equal(after.code, 0, after.stdout + after.stderr);
  await startOn(t, node.url, dir);
});

test('attributes a missing transfer to the index, not to its token', async (t) => {
  const chain = await startOddChain(t);
  const token = await chain.deploy('PlainToken');
  await chain.mint(token, 0, 1_000);
  await chain.transfer(token, 0, 1, 400);
  const wrong = await chain.head();
  await chain.transfer(token, 1, 2, 100);
  const forgetful = await startMisbehavingNode({ upstream: chain.anvil.url });
  t.after(() => forgetful.close());
  forgetful.misbehave({
    replace: (method, params, result) =>
      method === 'eth_getBlockReceipts' && Number(params[0]) === wrong ? hideTransfers(result) : result,
  });
  const path = await buildIndex({ url: forgetful.url, dir: tempDir(t) });
  const report = await verifyFile({ path, http: chain.anvil.url });
  const balances = differencesOf(report).filter((text) => text.startsWith('balances'));
  assert.match(
    balances[0] ?? '',
    new RegExp(`^balances: ${token}: .*: transfer 1 of block ${wrong} is missing in the index`),
  );
  assert.equal(report.tokens.find((verdict) => verdict.token === token)?.quality, null);
});

test('a repair follows the chain that the node has now, also where finalized blocks changed', async (t) => {
  const chain = [...generateChain({ seed: 42, blocks: HEAD, txPerBlock: 20 }).blocks];
  const node = await startNode(t, { chain });
  const dir = tempDir(t);
  const path = await indexAll(node.url, dir);
  node.fork(30);
  await assert.rejects(
    repairFile(path, node.url, 35, 40),
    /block 35 of the node follows 0x\w+, but block 34 is 0x\w+ in the index: begin the repair at a lower block/,
  );
  const { replacedFrom, head, differing } = await repairFile(path, node.url, 25, 40);
  assert.equal(replacedFrom, 30);
  assert.equal(head.number, 40);
  assert.match(differing[0] ?? '', /block 30 is 0x\w+ in the index and 0x\w+ on the node/);
  assert.deepEqual(dumpIndex(path), dumpIndex(await indexAll(node.url, tempDir(t))));
});

test('a repair that is stopped says that the daemon completes the index, and it does', async (t) => {
  const chain = [...generateChain({ seed: 44, blocks: HEAD, txPerBlock: 16 }).blocks];
  const node = await startNode(t, { chain });
  const dir = tempDir(t);
  const path = await indexAll(await forgetfulNode(t, node.url), dir);
  node.setHead(20); // the repair waits for the rest
  const args = verifyArgs(dir, node.url, '--repair', '10..15');
  const { child, ended } = start(t, [process.execPath, ...args], { cwd: dir });
  const db = openIndexForReading(path);
  t.after(() => db.close());
  await waitFor(() => readLastBlock(db)?.number === 20, { what: 'the repair to index as far as it can' });
  child.kill('SIGINT');
  const { code, stderr } = await ended;
  assert.equal(code, 1);
  assert.equal(
    stderr,
    'atlas-node: the index now ends with block 20 instead of 40; "atlas-node start" continues from there\n',
  );
  await assert.rejects(
    repairFile(path, node.url, 10, 30),
    /the index holds blocks 1 to 20: .* not within; if a repair was stopped, "atlas-node start" indexes the rest/,
  );
  node.setHead(HEAD);
  await startOn(t, node.url, dir);
  assert.deepEqual(dumpIndex(path), dumpIndex(await indexAll(node.url, tempDir(t))));
});

test('a repair that is stopped while it compares has replaced nothing', async (t) => {
  const chain = [...generateChain({ seed: 45, blocks: 3, txPerBlock: 2 }).blocks];
  const node = await startNode(t, { chain });
  const dir = tempDir(t);
  await indexAll(node.url, dir);
  const slow = await startMisbehavingNode({ upstream: node.url });
  t.after(() => slow.close());
  const isOfFirstBlock = ({ method, params }: NodeCall) =>
    method === 'eth_getBlockReceipts' && Number(params[0]) === 1;
  slow.misbehave({ delayMs: 60_000, when: isOfFirstBlock });
  const args = verifyArgs(dir, slow.url, '--repair', '1..2');
  const { child, ended } = start(t, [process.execPath, ...args], { cwd: dir });
  await waitFor(() => slow.requests.some(({ calls }) => calls.some(isOfFirstBlock)), {
    what: 'the first block to be read',
  });
  child.kill('SIGINT');
  const { code, stderr } = await ended;
  assert.equal(code, 1);
  assert.equal(stderr, 'atlas-node: stopped before any block was replaced\n');
});

test('a repair stopped while it removes blocks, or before it counts again, says what is left to do', async (t) => {
  const chain = [...generateChain({ seed: 48, blocks: 520, txPerBlock: 1 }).blocks];
  const node = await startNode(t, { chain });
  const path = await indexAll(node.url, tempDir(t));
  node.fork(9);
  const stopAt = (wanted: RegExp) => (text: string, stop: AbortController) => {
    if (wanted.test(text)) stop.abort();
  };
  await assert.rejects(
    repairFile(path, node.url, 5, 40, stopAt(/^removing blocks/)),
    /the index now ends with block 20 instead of 520, and block 9 still differs: run it again with --repair 9\.\.20/,
  );
  await assert.rejects(
    repairFile(path, node.url, 9, 20, stopAt(/^indexing again: block 20 of 20/)),
    /the sums .* of these blocks were not recounted: run "atlas-node verify --file"/,
  );
  assert.equal((await repairFile(path, node.url, 5, 20)).replacedFrom, null);
});

test('refuses a repair outside the index, while an indexer runs, and when the node lacks the range', async (t) => {
  const chain = [...generateChain({ seed: 43, blocks: HEAD, txPerBlock: 5 }).blocks];
  const node = await startNode(t, { chain });
  const dir = tempDir(t);
  const path = await indexAll(node.url, dir);
  const dump = dumpIndex(path);
  await assert.rejects(
    repairFile(path, node.url, 30, 41),
    /the index holds blocks 1 to 40: blocks 30 to 41 are not within/,
  );
  await assert.rejects(repairFile(path, node.url, 0, 3), /blocks 0 to 3 are not within$/);
  const other = await startNode(t, { chain, chainId: 77 });
  await assert.rejects(repairFile(path, other.url, 3, 4), /but the node is on chain 77/);
  const empty = join(dir, 'empty.db');
  new IndexWriter(empty, { cacheMb: 8 }).close();
  await assert.rejects(repairFile(empty, node.url, 1, 2), {
    name: 'FatalError',
    message: /the index is empty/,
  });
  const writer = new IndexWriter(path, { cacheMb: 8 });
  await assert.rejects(repairFile(path, node.url, 3, 4), /another atlas-node is writing .*stop it first/);
  writer.close();
  node.setHead(20);
  await assert.rejects(repairFile(path, node.url, 30, 31), /blocks 30 to 31 cannot be read from the node/);
  await assert.rejects(repairFile(join(dir, 'none.db'), node.url, 1, 2), /cannot open .*none\.db/);
  assert.deepEqual(dumpIndex(path), dump, 'nothing was changed');
});

test('invalid arguments are bad usage', async (t) => {
  const dir = tempDir(t);
  for (const [args, message] of [
    [['--repair', '9..3'], /two block numbers, the lower one first, such as 1200\.\.1250/],
    [['--sample', 'many'], /must be a number from 1/],
  ] as const) {
    const refused = await verifyCommand(dir, 'http://127.0.0.1:1', ...args);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, message);
  }
});

test('without an index, or without a node, verify says what to do', async (t) => {
  const dir = tempDir(t);
  for (const args of [[], ['--repair', '1..2']]) {
    const lost = await verifyCommand(dir, 'http://127.0.0.1:1', ...args);
    assert.equal(lost.code, 1);
    assert.match(
      lost.stderr,
      new RegExp(
        String.raw`^atlas-node: there is no .*index\.db: name the folder of the index with --data-dir, ` +
          String.raw`or the configuration with --config\n$`,
      ),
    );
  }
  const chain = [...generateChain({ seed: 7, blocks: 3, txPerBlock: 2 }).blocks];
  await indexAll((await startNode(t, { chain })).url, dir);
  const alone = await verifyCommand(dir, 'http://127.0.0.1:1');
  assert.equal(alone.code, 1);
  assert.match(alone.stderr, /^atlas-node: the node gave no usable answer: .* --node-http\n$/);
});
