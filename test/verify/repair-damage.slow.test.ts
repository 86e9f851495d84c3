/** Every kind of damage that a disk can do to an index, found and repaired. */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, suite, type TestContext, test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import type { ReplayNode } from '../../scripts/simulator/replay/controls.ts';
import { verifyText } from '../../src/cli/verify/verify-text.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { repairFile, verifyFile } from '../support/index/verify.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';

function indexAll(url: string, dir: string): Promise<string> {
  return buildIndex({ url, dir, startBlock: 1 });
}

/** Disk damage, and the statement that causes it. */
const DAMAGES: readonly (readonly [what: string, damage: string])[] = [
  [
    'a token’s amount',
    "UPDATE transfers SET value = x'09' WHERE id = (SELECT max(id) FROM transfers WHERE kind = 1)",
  ],
  [
    'an amount of wei',
    "UPDATE transfers SET value = x'ffffffffffffffffffffffffffff' WHERE id = (SELECT max(id) FROM transfers " +
      'WHERE kind = 0)',
  ],
  ['the row of a token', 'DELETE FROM tokens WHERE id = (SELECT max(id) FROM tokens)'],
  ['a kind', 'UPDATE transfers SET token_kind = 2 WHERE id = (SELECT max(id) FROM transfers WHERE kind = 0)'],
  ['a row of transfers', 'DELETE FROM transfers WHERE id = (SELECT max(id) FROM transfers WHERE kind = 0)'],
  [
    'a log index',
    'UPDATE transfers SET log = 9999 WHERE id = (SELECT max(id) FROM transfers WHERE kind = 1)',
  ],
  ['the last wallet of a block', 'UPDATE blocks SET last_wallet = last_wallet - 1 WHERE number = 7'],
  ['the hash of a block', 'UPDATE blocks SET hash = zeroblob(32) WHERE number = 9'],
  ['the senders of a block', 'UPDATE block_parties SET parties = zeroblob(3) WHERE number = 8'],
  ['a block', 'DELETE FROM blocks WHERE number = 20'],
  ['the checksum of a block', 'UPDATE blocks SET checksum = 0 WHERE number = 11'],
  ['an address', "UPDATE wallets SET address = x'0102030405060708090a0b0c0d0e0f1011121314' WHERE id = 3"],
  [
    'the contract of a token',
    'UPDATE tokens SET wallet = (SELECT max(id) FROM wallets WHERE id NOT IN (SELECT wallet FROM tokens)) WHERE id = 1',
  ],
  ['a counter', 'UPDATE wallets SET transfers = transfers + 16 WHERE id = 2'],
  ['a sum of wei', "UPDATE wallets SET native_received = x'01' WHERE id = 2"],
  ['a holding', 'UPDATE holdings SET transfers = transfers + 1 WHERE token = 1'],
  ['a list of transfers', 'UPDATE wallets SET recent = zeroblob(length(recent)) WHERE id = 2'],
  ['a fall of time', 'INSERT INTO time_falls VALUES (1, 1)'],
  ['a largest transfer', "UPDATE native_peaks SET peak = x'81ff' WHERE level = 1"],
  ['what was minted of a token', "UPDATE token_mints SET minted = x'07' WHERE token = 1"],
  ['the way to an address', 'DELETE FROM addresses WHERE wallet = 4'],
  ['a first funding', 'DELETE FROM fundings WHERE funding = (SELECT min(funding) FROM fundings)'],
  [
    'a list of first buyers',
    'UPDATE first_buyers SET buyers = CAST(substr(buyers, 1, length(buyers) - 1) AS BLOB) WHERE token = 1',
  ],
];

suite('damage of the disk', () => {
  const cleanup = suiteCleanup();
  const head = 24;
  let node: ReplayNode;
  /** An undamaged index, and its rows. */
  let whole: string;
  let fresh: string[];
  before(async () => {
    const chain = [...generateChain({ seed: 46, blocks: head, txPerBlock: 6 }).blocks];
    node = await startNode(cleanup, { chain });
    whole = await indexAll(node.url, tempDir(cleanup));
    fresh = dumpIndex(whole);
  });

  /** A copy of the index, changed by statements. */
  function damaged(t: TestContext, ...damages: string[]): string {
    const path = join(tempDir(t), 'index.db');
    copyFileSync(whole, path);
    const db = openDatabase(path);
    for (const damage of damages) assert.notEqual(db.prepare(damage).run().changes, 0);
    db.close();
    return path;
  }

  for (const [what, damage] of DAMAGES) {
    test(`${what} that changed is found and repaired without reading more than its block`, async (t) => {
      const path = damaged(t, damage);
      const found = verifyText(await verifyFile({ path, http: node.url }));
      assert.match(found, /DIFFERENCE/);
      assert.match(found, /"atlas-node verify --repair" to rebuild the file/);
      const repaired = await repairFile(path, node.url, null, 0);
      assert.ok(repaired.rebuilt);
      assert.equal(repaired.replacedFrom, null, 'every block behind the damage is kept');
      assert.deepEqual(dumpIndex(path), fresh);
    });
  }

  test('is not seen in a file without damage', async (t) => {
    const path = join(tempDir(t), 'index.db');
    copyFileSync(whole, path);
    assert.equal((await repairFile(path, node.url, null, 0)).rebuilt, false);
    assert.deepEqual(dumpIndex(path), fresh);
  });

  test('in several blocks is repaired by a repair of a range that begins at one of them', async (t) => {
    const path = damaged(
      t,
      'UPDATE transfers SET log = 9999 WHERE id = (SELECT max(id) FROM transfers WHERE kind = 1)',
      'UPDATE blocks SET last_wallet = last_wallet - 1 WHERE number = 7',
      'UPDATE blocks SET hash = zeroblob(32) WHERE number = 9',
    );
    const { rebuilt, differing } = await repairFile(path, node.url, 9, 9);
    assert.ok(rebuilt);
    assert.match(differing.join(), /the stored rows of block 9 do not match its checksum/);
    assert.deepEqual(dumpIndex(path), fresh);
  });

  test('to a holding or a counter in the range of a repair is repaired, not called equal', async (t) => {
    for (const damage of [
      'UPDATE wallets SET transfers = transfers + 16 WHERE id = 2',
      'UPDATE holdings SET transfers = transfers + 1 WHERE token = 1',
    ]) {
      const path = damaged(t, damage);
      assert.ok((await repairFile(path, node.url, 1, head)).rebuilt, damage);
      assert.deepEqual(dumpIndex(path), fresh);
    }
  });
});
