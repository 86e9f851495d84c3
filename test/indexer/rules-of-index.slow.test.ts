/** An index is decoded by the rules that it was made with, whatever the program and its configuration say later. */
import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Hex } from '../../src/lib/hex.ts';
import { describeStatus } from '../../src/server/http/health.ts';
import { SCHEMA_VERSION } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { MIGRATIONS, migrate } from '../../src/store/migrations/migrations.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { toldChain } from '../support/chain/told-chain.ts';
import { dumpIndex } from '../support/index/dump.ts';
import { address } from '../support/index/index-fixture.ts';
import { startIndexer, type TestIndexer } from '../support/index/indexer.ts';
import { differencesOf, repairFile, verifyAlone, verifyFile } from '../support/index/verify.ts';
import { startNode } from '../support/nodes/replay.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const DEPOSIT: Hex = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c';
const word = (hex: Hex): Hex => `0x${hex.slice(2).padStart(64, '0')}`;

/** Each block wraps coins at one of two contracts. */
const CHAIN = toldChain(
  Array.from({ length: 12 }, (_, i) => ({
    from: 'alice',
    to: `wrapper ${i % 2}`,
    value: 5n,
    transfers: [],
    logs: [
      {
        address: address(`wrapper ${i % 2}`),
        topics: [DEPOSIT, word(address('alice'))],
        data: word('0x5'),
      },
    ],
  })),
);
const ONE = address('wrapper 0');
const OTHER = address('wrapper 1');

async function indexTo(
  t: TestContext,
  dir: string,
  head: number,
  wrappedNative: readonly string[],
): Promise<TestIndexer> {
  const node = await startNode(t, { chain: CHAIN, head });
  const indexer = startIndexer(t, { http: node.url, dir, wrappedNative, index: { startBlock: 0 } });
  await indexer.reaches(head);
  await waitFor(() => indexer.status().rules !== null, { what: 'the rules' });
  await indexer.client.stop();
  return indexer;
}

test('a contract added to the configuration changes nothing in an existing index, which says so', async (t) => {
  const dir = tempDir(t);
  const first = await indexTo(t, dir, 6, [ONE]);
  assert.deepEqual(first.status().rules?.changes, []);
  const later = await indexTo(t, dir, 12, [ONE, OTHER]);
  const { rules } = describeStatus(later.status(), 0, Date.now());
  assert.deepEqual(rules?.changes, [`${OTHER} counts as wrapped native coin`]);
  assert.equal(rules?.rebuildBlocks, 13);
  assert.ok(
    later.logs.some((line) => line.includes('keeps its own') && line.includes(OTHER)),
    later.logs.join('\n'),
  );

  const rows = dumpIndex(later.path);
  const fresh = await indexTo(t, tempDir(t), 12, [ONE]);
  assert.deepEqual(rows, dumpIndex(fresh.path), 'as if the configuration had not changed');

  const node = await startNode(t, { chain: CHAIN });
  for (const wrappedNative of [[], [ONE], [ONE, OTHER]]) {
    const options = { path: later.path, http: node.url, wrappedNative };
    assert.deepEqual(differencesOf(await verifyFile({ ...options, all: true })), []);
    assert.deepEqual(differencesOf(await verifyFile(options)), []);
  }
  assert.equal((await repairFile(later.path, node.url, 1, 12)).replacedFrom, null);
  assert.deepEqual(dumpIndex(later.path), rows);
});

test('an index with times in milliseconds, of an earlier release, says how to be rid of them', async (t) => {
  const dir = tempDir(t);
  const { path } = await indexTo(t, dir, 6, [ONE]);
  const db = openDatabase(path);
  db.exec('UPDATE blocks SET timestamp = timestamp * 1000 WHERE number > 0');
  db.close();
  for (const head of [8, 10]) {
    const { logs, status } = await indexTo(t, dir, head, [ONE]);
    assert.deepEqual(status().rules?.changes, ['block times are read as milliseconds, not as seconds']);
    assert.match(logs.join('\n'), /warn an earlier release stored .* in milliseconds.*delete index\.db/);
  }
});

test('a repair and a rebuild decode blocks by the rules of the index', async (t) => {
  const dir = tempDir(t);
  const { path } = await indexTo(t, dir, 12, [ONE]);
  const rows = dumpIndex(path);
  const node = await startNode(t, { chain: CHAIN });
  for (const sql of [
    'UPDATE transfers SET value = CAST(7 AS BLOB) WHERE id = 5',
    "UPDATE wallets SET native_sent = x'01' WHERE id = 1",
  ]) {
    const db = openDatabase(path);
    db.exec(sql);
    db.close();
    const { rebuilt } = await repairFile(path, node.url, null, 12); // with no contract configured
    assert.equal(rebuilt, true, sql);
    assert.deepEqual(dumpIndex(path), rows);
  }
});

test('an index of an earlier release gets the contracts of its configuration once', async (t) => {
  const dir = tempDir(t);
  const { path } = await indexTo(t, dir, 6, [ONE]);
  const db = openDatabase(path);
  db.exec('DROP TABLE index_rules');
  db.pragma('user_version = 5');
  for (const _ of migrate(
    db,
    MIGRATIONS.filter(({ version }) => version === 6),
  ));
  db.pragma(`user_version = ${SCHEMA_VERSION}`);
  db.close();
  const completed = await indexTo(t, dir, 6, [ONE]);
  assert.ok(completed.logs.some((line) => line.includes('keeps the rules of its configuration')));
  await indexTo(t, dir, 12, [OTHER]);
  const writer = new IndexWriter(path, { cacheMb: 8 });
  const rules = writer.rules();
  writer.close();
  assert.deepEqual([rules?.version, rules?.monad], [1, false]);
  assert.deepEqual(
    [ONE, OTHER].map((each) => rules?.wrappedNative?.includes(each)),
    [true, false],
  );
  assert.deepEqual(differencesOf(await verifyAlone(path)), []);
});

test('damaged or missing rules are found, stop the indexing, and are set again by a repair', async (t) => {
  const dir = tempDir(t);
  const { path } = await indexTo(t, dir, 6, []);
  const node = await startNode(t, { chain: CHAIN });
  for (const sql of ["UPDATE index_rules SET native_contracts = 'ab'", 'DELETE FROM index_rules']) {
    const copy = join(tempDir(t), 'index.db');
    copyFileSync(path, copy);
    const db = openDatabase(copy);
    db.exec(sql);
    db.close();
    assert.match(differencesOf(await verifyAlone(copy)).join(), /index_rules/);
    assert.match(differencesOf(await verifyFile({ path: copy, http: node.url })).join(), /index_rules/);
    const writer = new IndexWriter(copy, { cacheMb: 8 });
    assert.throws(() => writer.rules(), /index_rules/);
    writer.close();
    const { differing, rebuilt } = await repairFile(copy, node.url, null, 6);
    assert.match(differing.join(), /rules of the index/);
    assert.equal(rebuilt, false);
    assert.deepEqual(dumpIndex(copy), dumpIndex(path));
  }
});
