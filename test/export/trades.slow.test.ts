/** The table `trades` in files, read by DuckDB. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FatalError } from '../../src/lib/errors.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { codeBlocks } from '../support/docs.ts';
import { createIndex as createFixture } from '../support/index/index-fixture.ts';
import { indexedTransfers } from '../support/index/index-rows.ts';
import { inChainOrder, plainTradeRows, tradeText } from '../support/trades/plain-trade-rows.ts';
import { PlainTrades } from '../support/trades/plain-trades.ts';
import { TRADE_LISTS } from '../support/trades/trade-lists.ts';
import { buysOf, COIN, profitsOf, tradingBlocks, winnersOf } from '../support/trades/trading-chain.ts';
import { createIndex, duck, LAST, manifestOf, setFinalized, setUp } from './exporting.ts';

/** Every row of the files as text. */
async function rowsOf(source: string): Promise<string[]> {
  const rows = await duck(`SELECT * REPLACE (epoch(block_timestamp::TIMESTAMPTZ)::BIGINT AS block_timestamp)
    FROM ${source}`);
  return inChainOrder(rows).map(tradeText);
}

for (const format of ['parquet', 'csv'] as const)
  test(`every trade in ${format} files equals a plain count of the transfers`, async (t) => {
    const { db, out, run } = setUp(t, LAST);
    assert.equal(await run({ table: 'trades', format, to: LAST }), 4);
    const source =
      format === 'parquet'
        ? `read_parquet('${out}/trades/*.parquet')`
        : `read_csv('${out}/trades/*.csv', all_varchar = true)`;
    const expected = plainTradeRows(db.name, { lists: TRADE_LISTS });
    assert.ok(expected.length > 200);
    assert.deepEqual(await rowsOf(source), expected);
  });

test('a transaction that begins in one read and ends in the next is one', async (t) => {
  const index = createFixture(t, 1);
  const swap = { kind: 'erc20' as const, token: 'coin', from: 'pool' };
  const swaps = Array.from({ length: 22_000 }, (_, i) => [
    `swap ${i}`,
    [
      { from: `wallet ${i % 50}`, to: 'pool', amount: 9n },
      { ...swap, to: `wallet ${i % 50}`, amount: 4n },
      { ...swap, to: `wallet ${i % 50}`, amount: 3n },
    ],
  ]);
  index.append([Object.fromEntries(swaps), {}]);
  setFinalized(index.path, 2);
  const { out, run } = setUp(t, 2, { index: index.path });
  await run({ table: 'trades', to: 2 });
  const found = await duck(
    `SELECT kind, token_amount, count(*)::INT AS n FROM '${out}/trades/*.parquet' GROUP BY ALL ORDER BY kind`,
  );
  assert.deepEqual(found, [
    { kind: 'buy', token_amount: '7', n: 22_000 },
    { kind: 'sell', token_amount: '7', n: 22_000 },
  ]);
});

test('an export refuses a folder of trades by other lists, and says what changed', async (t) => {
  const { out, run } = setUp(t, LAST);
  await run({ table: 'trades', to: 150 });
  await run({ table: 'transfers', to: 150 });
  const before = manifestOf(`${out}/trades`);
  const other = { ...TRADE_LISTS, quoteTokens: TRADE_LISTS.quoteTokens.slice(1) };
  await assert.rejects(
    run({ table: 'trades', tradeLists: other }),
    (error) =>
      error instanceof FatalError &&
      /were told by other lists \(now 0x[0-9a-f]{40} does not count as a quote token\): remove that folder/.test(
        error.message,
      ),
  );
  assert.deepEqual(manifestOf(`${out}/trades`), before);
  assert.equal(await run({ table: 'transfers', tradeLists: other }), 3, 'transfers do not depend on them');
  assert.equal(await run({ table: 'trades' }), 3, 'the same lists go on');
});

/** Appends blocks that the node did not trace. */
function untracedIndex(t: TestContext, index: string): IndexWriter {
  const writer = new IndexWriter(index, { cacheMb: 8 });
  t.after(() => writer.close());
  const head = writer.head();
  const batch = toBatch(randomBlocks(LAST + 1, 20, head?.hash ?? '', 1));
  const gap = { kind: 'trace' as const, first: LAST + 1, last: LAST + 20, reason: 'no traces' };
  writer.append([{ ...batch, gaps: [gap] }]);
  return writer;
}

test('files with uncertain trades are written again once a repair finds their blocks complete', async (t) => {
  const index = createIndex(t, LAST);
  const writer = untracedIndex(t, index);
  setFinalized(index, LAST + 20);
  const { db, out, files, run } = setUp(t, LAST + 20, { index });
  await run({ table: 'trades', to: LAST + 20 });
  const source = `read_parquet('${out}/trades/*.parquet')`;
  assert.deepEqual(await rowsOf(source), plainTradeRows(db.name, { lists: TRADE_LISTS }));
  const uncertain = async () =>
    (await duck(`SELECT count(*)::INT AS n FROM ${source} WHERE uncertain`))[0]?.n;
  const before = Number(await uncertain());
  assert.ok(before > 5);
  writer.setComplete('trace', { first: LAST + 5, last: LAST + 20 });
  files.splice(0);
  await run({ table: 'trades', from: 10, to: 50 });
  assert.equal(files.length, 1, 'the last file alone');
  assert.ok(Number(await uncertain()) < before);
  assert.deepEqual(await rowsOf(source), plainTradeRows(db.name, { lists: TRADE_LISTS }));
});

test('the documented questions about trades find in DuckDB what a plain count finds', async (t) => {
  const index = createFixture(t, 1);
  index.append(tradingBlocks());
  setFinalized(index.path, 40);
  const { db, out, run } = setUp(t, 40, { index: index.path });
  await run({ table: 'trades', to: 40 });
  const lists = { equivalents: TRADE_LISTS.nativeEquivalents, quotes: TRADE_LISTS.quoteTokens };
  const trades = new PlainTrades(indexedTransfers(dirname(db.name)), {
    ...lists,
    sinks: TRADE_LISTS.feeSinks,
  });
  const questions = codeBlocks('sql duckdb').map((sql) =>
    sql.replaceAll('/data/atlas', out).replaceAll('0x3bd359c1119da7da1d913d1c4d2b7c461115433a', COIN),
  );
  const [legs = [], volumes = [], profits = [], winners = []] = await Promise.all(questions.map(duck));
  assert.equal(questions.length, 4);
  assert.equal(legs.length, 40, 'one side of each swap receives the token');
  assert.equal(
    volumes.reduce((sum, row) => sum + Number(row.trades), 0),
    buysOf(trades),
  );
  assert.deepEqual(
    profits.map(({ wallet_address }) => String(wallet_address).slice(2)),
    profitsOf(trades).map(({ wallet }) => wallet),
  );
  for (const [i, { profit }] of profitsOf(trades).entries())
    assert.ok(Math.abs(Number(profits[i]?.profit) - Number(profit)) < 2);
  assert.deepEqual(
    winners.map(({ wallet_address }) => String(wallet_address).slice(2)).sort(),
    winnersOf(trades),
  );
});
