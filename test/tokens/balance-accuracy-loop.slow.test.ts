import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Hex } from '../../src/lib/hex.ts';
import { RpcClient } from '../../src/node/client.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { BalanceAccuracy, prepareTokensToExamine } from '../../src/store/tokens/balance-accuracy.ts';
import { runBalanceAccuracyLoop } from '../../src/tokens/balance-accuracy-loop.ts';
import { startOddChain } from '../support/chain/odd-tokens.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { startTestDaemon } from '../support/daemon/daemon.ts';
import { createIndex, type IndexFixture } from '../support/index/index-fixture.ts';
import { logTo } from '../support/logs.ts';
import { startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

test('the running daemon examines tokens and reports their balance accuracy in its answers', async (t) => {
  const chain = await startOddChain(t);
  const fee = await chain.deploy('FeeToken');
  await chain.mint(fee, 0, 1_000);
  const daemon = await startTestDaemon(t, { flags: { '--node-http': chain.anvil.url } });
  const said = async (token: Hex): Promise<unknown> => {
    const stats = await daemon.get('token_stats', { token });
    const holders = await daemon.get('token_holders', { token });
    assert.ok(holders.estimateQuality === stats.estimateQuality || stats.estimateQuality === null);
    return stats.estimateQuality;
  };
  await waitFor(async () => (await said(fee)) === 'exact', {
    what: 'a token that took no fee so far to be exact',
  });
  const plain = await chain.deploy('PlainToken');
  await chain.mint(plain, 2, 50);
  await waitFor(async () => (await said(plain)) === 'exact', {
    what: 'a token that just appeared to be examined',
  });
  // A token is examined once in a hundred blocks: of one that moves just after, the next hundred show it.
  const moveAgain = async (): Promise<boolean> => {
    if ((await said(fee)) === 'unreliable') return true;
    await chain.mine(120);
    await chain.transfer(fee, 0, 1, 10);
    return false;
  };
  await waitFor(moveAgain, { what: 'the fee to be noticed when it moves again', everyMs: 2_000 });
  assert.equal(await said(`0x${'1'.repeat(40)}`), null, 'what is no token has no quality');
});

const transfer = (token: string) => ({
  [`tx of ${token}`]: [{ kind: 'erc20', from: 'a', to: 'b', token } as const],
});

test('tokens that just moved are examined first, the others in turn, old results again', (t) => {
  const index = createIndex(t);
  const db = index.reader(t);
  const next = prepareTokensToExamine(db);
  index.append([transfer('one')]);
  for (let i = 0; i < 10; i++)
    index.append([{ [`${i}`]: Array.from({ length: 60 }, () => ({ from: 'a', to: 'b' })) }]);
  index.append([transfer('two')]);
  const note = (token: number, block: number) =>
    index.writer.setBalanceAccuracy(token, { quality: BalanceAccuracy.exact, block, offsets: [] });
  assert.deepEqual(next(12, 5), [2], 'the one in the newest transfers');
  note(2, 12);
  assert.deepEqual(next(12, 5), [1], 'one that is not in them');
  note(1, 12);
  assert.deepEqual(next(12, 5), []);
  assert.deepEqual([next(113, 5), next(113, 5)], [[2], [2]], 'moved again, a hundred blocks later');
  note(2, 113);
  assert.deepEqual(next(20_012, 5), [2]);
  note(2, 20_013);
  assert.deepEqual(next(20_013, 5), [1], 'long not examined');
});

test('a rollback drops results from removed blocks', (t) => {
  const writer = new IndexWriter(join(tempDir(t), 'index.db'), { cacheMb: 8 });
  t.after(() => writer.close());
  writer.setChain(1, 1);
  writer.append([toBatch(randomBlocks(1, 40, `0x${'00'.repeat(32)}`, 2))]);
  const found = {
    quality: BalanceAccuracy.partial,
    offsets: [
      { wallet: 3, offset: -5n },
      { wallet: 0, offset: 10n ** 30n },
    ],
  };
  writer.setBalanceAccuracy(1, { ...found, block: 20 });
  writer.setBalanceAccuracy(2, { ...found, block: 21 });
  writer.rollback(20);
  assert.deepEqual(writer.balanceAccuracyOf(1), { ...found, block: 20 });
  assert.equal(writer.balanceAccuracyOf(2), null);
});

/** Runs the loop over an index of one token against a node that answers every call with null. */
async function runLoop(t: TestContext, index: IndexFixture) {
  const node = await startMisbehavingNode();
  t.after(() => node.close());
  const client = new RpcClient({ url: node.url, timeoutMs: 20_000, maxSockets: 1, maxBatch: 60 });
  t.after(() => client.close());
  const stop = new AbortController();
  t.after(() => stop.abort());
  const warnings: string[] = [];
  const damage: string[] = [];
  const ended = runBalanceAccuracyLoop(
    {
      indexPath: index.path,
      store: index.writer,
      client,
      startBlock: 1,
      wrappedNative: new Set(),
      isFollowing: () => true,
      log: logTo(warnings),
      onDamage: ({ message }) => damage.push(message),
    },
    stop.signal,
  );
  ended.catch(() => undefined); // awaited when the test wants it
  return { node, stop, warnings, damage, ended };
}

test('a file that cannot be opened for a while is waited for', async (t) => {
  const index = createIndex(t);
  index.append([transfer('one')]);
  renameSync(index.path, `${index.path}.away`);
  const { node, stop, warnings, ended } = await runLoop(t, index);
  await Promise.race([ended, waitFor(() => warnings.length > 0, { what: 'the failure to be told' })]);
  assert.match(warnings[0] ?? '', /"token quality".*cannot be opened/);
  renameSync(`${index.path}.away`, index.path);
  await waitFor(() => node.requests.length > 0, { what: 'the token to be examined' });
  stop.abort();
  await ended;
});

/** Overwrites the first page of a table. */
function damageTable({ path }: IndexFixture, table: string): void {
  const db = openDatabase(path);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  const page = db
    .prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?')
    .pluck()
    .get(table);
  db.close();
  assert.ok(page !== undefined);
  writeFileSync(path, readFileSync(path).fill(0xa5, (page - 1) * pageBytes, page * pageBytes));
}

test('reports damage with advice, and keeps retrying', async (t) => {
  const index = createIndex(t);
  index.append([transfer('one')]);
  damageTable(index, 'token_quality');
  const { stop, damage, ended } = await runLoop(t, index);
  await waitFor(() => damage.length > 1, { what: 'the damage to be met twice', timeoutMs: 20_000 });
  assert.match(damage[0] ?? '', /is damaged .*move it away/);
  stop.abort();
  await ended;
});
