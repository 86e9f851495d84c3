import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import type { VerifyReport } from '../../src/verify/report.ts';
import { pickNumbers } from '../../src/verify/scope.ts';
import { randomSource } from '../support/chain/random-chain.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { verifyAlone, verifyFile } from '../support/index/verify.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { startNode, suiteCleanup } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';

const BLOCKS = 24;

const owner = suiteCleanup();
let node: ReplayNode;
/** An index of a short chain, which a sample covers completely. */
let path: string;

before(async () => {
  const chain = generateChain({ seed: 40, blocks: BLOCKS, txPerBlock: 16, wallets: 4, tokens: 5 }).blocks;
  node = await startNode(owner, { chain: [...chain] });
  path = await buildIndex({ url: node.url, dir: tempDir(owner), startBlock: 1 });
});

/** A copy of the index, changed behind its writer's back. */
function damaged(t: TestContext, sql: string): string {
  const copy = join(tempDir(t), 'index.db');
  copyFileSync(path, copy);
  const db = openDatabase(copy);
  db.exec(sql);
  db.close();
  return copy;
}

/** The differences that some checks report, sorted. */
function foundBy({ checks }: VerifyReport, names: readonly string[]): string[] {
  return checks
    .filter(({ name }) => names.includes(name))
    .flatMap(({ name, differences }) => differences.map(({ text }) => `${name}: ${text}`))
    .sort();
}

test('file, sample and all report each damage in the same words', async (t) => {
  const copy = damaged(
    t,
    `
    UPDATE wallets SET transactions = transactions + 1 WHERE id = 2;
    UPDATE wallets SET native_received = x'07' WHERE id = 3;
    DELETE FROM activity;
    DELETE FROM wallets WHERE id = 4;
    UPDATE addresses SET key = (SELECT address FROM wallets WHERE id = 5) WHERE wallet = 5;
    UPDATE tokens SET holders = holders + 1 WHERE id = 1;
    UPDATE holdings SET balance = 7 WHERE token = 1 AND wallet = (SELECT max(wallet) FROM holdings WHERE token = 1);
    DELETE FROM first_buyers WHERE token = 2;
    DELETE FROM tokens WHERE id = 3;
    UPDATE native_peaks SET peak = x'8101' WHERE span = 0;
    INSERT INTO native_peaks VALUES (1, 9999, x'8101');
    UPDATE blocks SET timestamp = timestamp + 1 WHERE number = 7`,
  );
  const alone = await verifyAlone(copy);
  const sample = await verifyFile({ path: copy, http: node.url });
  const all = await verifyFile({ path: copy, http: node.url, all: true });

  const ownChecks = ['file', 'blocks', 'checksums', 'wallets', 'tokens'];
  const expected = foundBy(alone, ownChecks);
  assert.ok(expected.length > 15, expected.join('\n'));
  assert.deepEqual(foundBy(sample, ownChecks), expected);
  assert.deepEqual(foundBy(all, ownChecks), expected);
  const transfers = foundBy(all, ['transfers']);
  assert.ok(transfers.length > 0, 'the node shows the damage too');
  assert.deepEqual(foundBy(sample, ['transfers']), transfers);
});

test('a sample, too, compares the hashes of blocks that it decodes, and waits for a header that is away', async (t) => {
  const copy = damaged(t, `UPDATE blocks SET hash = x'${'11'.repeat(32)}' WHERE number = 9`);
  const proxy = await startMisbehavingNode({ upstream: node.url });
  t.after(() => proxy.close());
  let away = 2; // the check of headers asks first
  proxy.misbehave({
    replace: (method, params, result) =>
      method === 'eth_getBlockByNumber' && Number(params[0]) === 9 && params[1] === false && away-- > 0
        ? null
        : result,
  });
  const [first = '', ...others] = foundBy(await verifyFile({ path: copy, http: proxy.url }), ['transfers']);
  assert.match(first, /^transfers: block 9 is 0x1{64} in the index and 0x[0-9a-f]{64} on the node$/);
  assert.deepEqual(others, []);
});

test('a sample leaves out a block that the node cannot return, and the full comparison stops there', async (t) => {
  const proxy = await startMisbehavingNode({ upstream: node.url });
  t.after(() => proxy.close());
  proxy.misbehave({
    when: ({ params }) => Number(params[0]) === 9 && params[1] === true,
    errorFor: { eth_getBlockByNumber: { code: -32000, message: 'no such luck' } },
  });
  const { checks } = await verifyFile({ path, http: proxy.url });
  const transfers = checks.find(({ name }) => name === 'transfers');
  assert.equal(transfers?.compared, `all transfers of ${BLOCKS - 1} blocks, decoded again`);
  assert.match(String(transfers?.notes), /^block 9 could not be read: .*no such luck/);
  await assert.rejects(
    verifyFile({ path, http: proxy.url, all: true }),
    /no such luck.*; all blocks below 1 are compared: run it again to resume there/,
  );
});

test('a choice of numbers is ascending, distinct, within its range and has both ends', () => {
  const pick = (from: number, to: number, count: number) => [
    ...pickNumbers(randomSource(1), from, to, count),
  ];
  assert.deepEqual(pick(5, 4, 3), []);
  assert.deepEqual(pick(5, 7, 3), [5, 6, 7]);
  assert.deepEqual(pick(5, 9, Number.POSITIVE_INFINITY), [5, 6, 7, 8, 9]);
  assert.deepEqual(pick(5, 9, 0), []);
  assert.deepEqual(pick(5, 9, 1), [5]);
  const some = pick(100, 199, 20);
  assert.deepEqual(
    some,
    [...new Set(some)].sort((a, b) => a - b),
  );
  assert.deepEqual([some.length, some[0], some.at(-1)], [20, 100, 199]);
});
