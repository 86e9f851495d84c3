/** balance_history equals the running sums of the transfers. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { NATIVE } from '../../../src/model/wallet-part.ts';
import { prepareBalanceHistory } from '../../../src/query/balance-history.ts';
import { unitBudget } from '../../../src/query/work-budget.ts';
import { IndexWriter } from '../../../src/store/index-writer.ts';
import { randomBlocks, toBatch } from '../../support/chain/random-chain.ts';
import { askApi } from '../../support/clients/ask-api.ts';
import { address, createIndex } from '../../support/index/index-fixture.ts';
import { type IndexedTransfer, indexedTransfers } from '../../support/index/index-rows.ts';
import { tempDir } from '../../support/temp-dir.ts';

const BLOCKS = 60;

test('the series of every wallet and asset is its running sum by block, whole or within times', async (t) => {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  const blocks = randomBlocks(1, BLOCKS, `0x${'00'.repeat(32)}`, 7);
  writer.append([toBatch(blocks.map((block) => ({ ...block, timestamp: 1_700_000_000 + block.number })))]);
  writer.close();
  const transfers = indexedTransfers(dirname(path));
  const ask = askApi(t, path);
  const wallets = [...new Set(transfers.flatMap(({ from, to }) => [from, to]))].slice(0, 25);
  const tokens = [null, ...new Set(transfers.flatMap(({ token }) => token ?? []))].slice(0, 5);
  let compared = 0;
  for (const address of wallets)
    for (const token of tokens)
      for (const [since, until] of [
        [1, BLOCKS],
        [20, 40],
      ] as const) {
        const answer = await ask('balance_history', {
          address,
          token: token ?? 'native',
          since: `${1_700_000_000 + since}`,
          until: `${1_700_000_000 + until}`,
          points: '500',
        });
        const { before, series } = runningSums(transfers, address, token, since, until);
        assert.deepEqual([answer.before, answer.series], [before, series], `${address} ${token}`);
        compared += series.length;
      }
  assert.ok(compared > 200, `${compared} points`);
});

test('points thin a series, and the last one stays', async (t) => {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  const [from, to] = ['a'.repeat(40), 'b'.repeat(40)];
  const coin = { kind: 0, from, to, token: '', logIndex: -1, amount: 1n, number: null };
  const blocks = randomBlocks(1, 50, `0x${'00'.repeat(32)}`, 1).map((block) => ({
    ...block,
    transactions: [{ hash: block.hash, transfers: [coin] }],
  }));
  writer.append([toBatch(blocks)]);
  writer.close();
  const ask = askApi(t, path);
  const seriesOf = async (points: string) => {
    const { series } = await ask('balance_history', { address: `0x${to}`, points });
    return (Array.isArray(series) ? series : []).map(({ balance }) => balance);
  };
  assert.equal((await seriesOf('100')).length, 50);
  assert.deepEqual(await seriesOf('4'), ['13', '25', '38', '50']);
  assert.deepEqual(await seriesOf('1'), ['50']);
  for (const points of [11, 22, 39, 44]) {
    const balances = await seriesOf(`${points}`);
    assert.deepEqual([balances.length, balances.at(-1)], [points, '50']); // 50 / points rounds up in floating point
  }
});

test('a block whose transactions undo each other is no point', async (t) => {
  const index = createIndex(t);
  const pay = (from: string, to: string, amount: bigint) => [{ from, to, amount }];
  index.append([
    { in: pay('b', 'a', 5n), out: pay('a', 'c', 5n) },
    { more: pay('b', 'a', 7n) },
    { lent: pay('a', 'c', 7n), back: pay('c', 'a', 7n) },
    { spent: pay('a', 'c', 3n) },
  ]);
  const { series } = await askApi(t, index.path)('balance_history', { address: address('a') });
  assert.deepEqual(
    (Array.isArray(series) ? series : []).map(({ blockNumber, balance }) => [blockNumber, balance]),
    [
      [2, '7'],
      [4, '4'],
    ],
  );
});

test('a reading ends after so many transfers or stretches, or with the first transfer of the token', (t) => {
  const pay = (amount: bigint, token?: string) => ({
    from: 'b',
    to: 'a',
    amount,
    ...(token && { kind: 'erc20' as const, token }),
  });
  const index = createIndex(t);
  index.append([
    { first: [pay(1n, 'x')], both: [pay(1n), pay(1n, 'x')] },
    Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`y ${i}`, [pay(1n, 'y'), pay(1n)]])),
    { last: [pay(1n, 'x'), pay(1n, 'x')] },
  ]);
  const { db, walletIds } = index.snapshot(t);
  const wallet = walletIds.idOf(address('a'));
  assert.ok(wallet !== undefined);
  const [x, y] = [1, 2];
  const read = (token: number, bounds: { transfers?: number; stretches?: number }) => {
    const historyOf = prepareBalanceHistory(db, { transfers: 1_000, stretches: 100, ...bounds });
    const { points, before, readFrom } = historyOf(wallet, token, { from: 1, below: 1e9 }, unitBudget(1e6));
    return [points.length, before, readFrom];
  };
  assert.deepEqual(read(NATIVE, {}), [301, 0n, null]);
  assert.deepEqual(read(NATIVE, { transfers: 101 }), [50, 251n, 504]); // all of the transaction that begins at 504
  assert.deepEqual(read(NATIVE, { stretches: 1 }), [301, 0n, null]); // no rows
  assert.deepEqual(read(x, {}), [4, 0n, null]);
  assert.deepEqual(read(x, { transfers: 101 }), [4, 0n, null]); // others of the wallet do not count
  assert.deepEqual(read(y, { transfers: 101 }), [128, 172n, 348]); // a piece
  assert.deepEqual(read(y, { stretches: 2 }), [110, 190n, 384]); // ids from 384 on
  assert.deepEqual(read(y, { transfers: 601 }), [300, 0n, null]); // the rest is not of this token
});

function runningSums(
  transfers: readonly IndexedTransfer[],
  address: string,
  token: string | null,
  since: number,
  until: number,
) {
  const form = transfers.find((transfer) => transfer.token === token)?.kind;
  const own = transfers.filter(
    (transfer) =>
      transfer.token === token &&
      (token === null || transfer.kind === form) &&
      (transfer.from === address) !== (transfer.to === address),
  );
  let balance = 0n;
  let before = 0n;
  const series: object[] = [];
  for (let block = 1; block <= until; block++) {
    if (block === since) before = balance;
    // A block that leaves the balance alone is no point, whatever its transactions did.
    let change = 0n;
    for (const each of own)
      if (each.block === block) change += each.to === address ? each.amount : -each.amount;
    balance += change;
    if (change === 0n || block < since) continue;
    const timestamp = new Date((1_700_000_000 + block) * 1000).toISOString();
    series.push({ blockNumber: block, timestamp, balance: `${balance}` });
  }
  return { before: `${before}`, series };
}
