/** The table `trades` in PostgreSQL, also where it is filled in later. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import postgres from 'postgres';
import { randomSource, randomToken, randomWallet } from '../support/chain/random-chain.ts';
import { nestedCleanup, suiteCleanup } from '../support/cleanup.ts';
import { askApi } from '../support/clients/ask-api.ts';
import { address, createIndex } from '../support/index/index-fixture.ts';
import { startPostgres, type TestPostgres } from '../support/sink/postgres.ts';
import { grow, reorg, startSink, WITHOUT_TRADES } from '../support/sink/sink.ts';
import { TRADE_LISTS } from '../support/trades/trade-lists.ts';
import { waitFor } from '../support/wait.ts';

type Row = Record<string, unknown>;

const OTHER_LISTS = {
  nativeEquivalents: [randomToken(4)],
  quoteTokens: [randomToken(0)],
  feeSinks: [randomWallet(1), randomWallet(5)],
};

describe('trades in PostgreSQL', () => {
  const cleanup = suiteCleanup();
  let server: TestPostgres;
  before(async () => {
    server = await startPostgres(cleanup);
  });

  async function run(url: string, statements: string): Promise<Row[]> {
    const sql = postgres(url, { max: 1, onnotice: () => undefined });
    try {
      return [...(await sql.unsafe(statements))];
    } finally {
      await sql.end();
    }
  }

  test('are those that the API lists, leg by leg', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 150, 3);
    const url = await server.createDatabase('listed');
    await startSink(own, index, { url }).equals();
    const rows = await run(url, 'SELECT * FROM atlas.readable_trades ORDER BY first_transfer DESC');
    const kinds = new Set(rows.map(({ kind }) => kind));
    assert.deepEqual([...kinds].sort(), ['buy', 'mixed', 'sell', 'swap']);
    const ask = askApi(own, index.path, TRADE_LISTS);
    for (const wallet of new Set(rows.map((row) => String(row.wallet_address)))) {
      const own = rows.filter((row) => row.wallet_address === wallet);
      const { trades } = await ask('wallet_trades', { address: wallet, limit: '200' });
      assert.ok(Array.isArray(trades));
      assert.deepEqual(own.map(asListed), trades.map(listed));
    }
  });

  test('of a copy that was made before are filled in while it follows the index', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 300, 1);
    const url = await server.createDatabase('older');
    const first = startSink(own, index, { url });
    await first.equals();
    await first.client.stop();
    await run(url, WITHOUT_TRADES);
    grow(index, 20, 2);
    const second = startSink(own, index, { url });
    reorg(index, 40, 60, 3);
    await second.equals();
    assert.equal(second.client.status.tradesBlock, index.writer.head()?.number);
  });

  test('begin with the oldest partition of transfers where history was dropped', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 200, 1);
    const url = await server.createDatabase('dropped');
    const first = startSink(own, index, { url });
    await first.equals();
    await first.client.stop();
    await run(url, `${WITHOUT_TRADES}; DROP TABLE atlas.transfers_0, atlas.transfers_70`);
    await startSink(own, index, { url }).reaches(200);
    const [row] = await run(
      url,
      'SELECT min(block_number)::int AS first, count(*)::int AS n FROM atlas.trades',
    );
    assert.ok(Number(row?.first) >= 140 && Number(row?.n) > 10);
  });

  test('are told anew when the lists change, and follow forks, kills and other lists meanwhile', async (t) => {
    const own = nestedCleanup(t);
    const random = randomSource(11);
    const int = (n: number) => Math.floor(random() * n);
    const index = createIndex(own, 1);
    grow(index, 180, 1);
    const url = await server.createDatabase('lists');
    let tradeLists = TRADE_LISTS;
    let sink = startSink(own, index, { url, tradeLists });
    await sink.equals();
    for (let round = 0; round < 9; round++) {
      await sink.client.stop();
      if (round % 3 === 2) await run(url, WITHOUT_TRADES);
      else tradeLists = tradeLists === TRADE_LISTS ? OTHER_LISTS : TRADE_LISTS;
      sink = startSink(own, index, { url, tradeLists });
      await new Promise((resolve) => setTimeout(resolve, int(400))); // somewhere within the filling
      if (int(2) === 0) reorg(index, int(120), int(130) + 1, 100 + round);
      else grow(index, int(30) + 1, 200 + round);
      sink.client.wake(null);
      if (int(2) === 0)
        await run(
          url,
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'atlas-node sink'",
        );
      if (round === 4) await sink.equals();
    }
    await sink.equals();
    const [state] = await run(url, 'SELECT head_block = trades_block AS whole FROM atlas.sink');
    assert.deepEqual(state, { whole: true });
  });

  test('of a repaired block are told anew, and only once', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    const blocks = (amount: bigint, count: number) =>
      Array.from({ length: count }, (_, i) => ({
        [`tx ${i}`]: [
          { from: 'alice', to: 'pool', amount: amount + BigInt(i) },
          { kind: 'erc20' as const, from: 'pool', to: 'alice', token: 'coin', amount: 7n },
        ],
      }));
    index.append(blocks(1n, 20));
    const url = await server.createDatabase('repaired');
    const sink = startSink(own, index, { url });
    await sink.equals();
    index.rewrite(8, blocks(500n, 13));
    const isRolledBack = () => {
      sink.client.wake(null);
      return sink.client.status.rollbacks === 1;
    };
    await waitFor(isRolledBack, { what: 'the rollback' });
    await sink.equals();
  });

  test('of a block with missing transfers are uncertain until a repair finds it complete', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    const trade = (name: string) => ({
      [name]: [
        { from: 'alice', to: 'pool', amount: 5n },
        { kind: 'erc20' as const, from: 'pool', to: 'alice', token: 'coin', amount: 7n },
      ],
    });
    index.append([trade('a'), trade('b')]);
    index.appendUntraced([trade('c'), trade('d'), trade('e')]);
    const url = await server.createDatabase('gaps');
    const uncertain = async () =>
      (
        await run(url, 'SELECT DISTINCT block_number::int AS b FROM atlas.trades WHERE uncertain ORDER BY 1')
      ).map(({ b }) => b);
    const first = startSink(own, index, { url });
    await first.equals();
    assert.deepEqual(await uncertain(), [3, 4, 5]);
    await first.client.stop();
    index.writer.setComplete('trace', { first: 4, last: 5 });
    const second = startSink(own, index, { url });
    await second.equals();
    assert.deepEqual(await uncertain(), [3]);
    index.writer.rollback(2);
    index.append([trade('f'), trade('g'), trade('h')], 'other branch');
    const isRolledBack = () => {
      second.client.wake(null);
      return second.client.status.rollbacks === 1;
    };
    await waitFor(isRolledBack, { what: 'the rollback' });
    await second.equals();
    assert.deepEqual(await uncertain(), []);
  });

  test('hold amounts beyond 256 bits, negative fees, and twenty ids of many NFTs', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    const most = 2n ** 256n - 1n;
    const coins = (from: string, to: string, amount: bigint) => ({
      kind: 'erc20' as const,
      ...{ from, to, amount, token: 'coin' },
    });
    const nfts = Array.from({ length: 23 }, (_, i) => ({
      kind: 'erc721' as const,
      ...{ from: 'seller', to: 'buyer', token: 'art', tokenId: BigInt(i) },
    }));
    index.append([
      {
        huge: [{ from: 'alice', to: 'pool', amount: 3n }, ...[1, 2].map(() => coins('pool', 'alice', most))],
      },
      { art: [{ from: 'buyer', to: 'seller', amount: 10n ** 18n }, ...nfts] },
      {
        fees: [
          { from: 'sink', to: 'alice', amount: 2n },
          coins('alice', 'bob', 4n),
          { from: 'bob', to: 'alice' },
        ],
      },
    ]);
    const url = await server.createDatabase('odd_amounts');
    const tradeLists = { feeSinks: [address('sink')] };
    await startSink(own, index, { url, tradeLists }).equals();
    const rows = await run(
      url,
      "SELECT token_amount, received, fees FROM atlas.trades WHERE kind = 'buy' ORDER BY block_number",
    );
    assert.equal(rows[0]?.token_amount, `${2n * most}`);
    assert.equal(Object(rows[1]?.received)[0].tokenIds.length, 20);
    assert.equal(Object(rows[1]?.received)[0].count, 23);
    const [sale] = await run(
      url,
      `SELECT fees FROM atlas.trades WHERE kind = 'sell' AND wallet_address = '\\x${address('alice').slice(2)}'`,
    );
    assert.deepEqual(sale?.fees, [{ tokenAddress: null, amount: '-2' }]);
  });

  test('wait for a name that the operator has taken', async (t) => {
    const own = nestedCleanup(t);
    const index = createIndex(own, 1);
    grow(index, 30, 1);
    const url = await server.createDatabase('taken');
    const first = startSink(own, index, { url });
    await first.equals();
    await first.client.stop();
    await run(url, `${WITHOUT_TRADES}; CREATE TABLE atlas.trades (note text)`);
    const second = startSink(own, index, { url });
    const reason = await waitFor(() => second.client.status.reason, { what: 'the reason' });
    assert.match(reason, /the schema has a table of that name that is not from this program: rename it/);
    await run(url, 'ALTER TABLE atlas.trades RENAME TO notes');
    await second.equals();
  });
});

/** What the API shows of a trade, from its row. */
function asListed(row: Row): Row {
  return {
    txHash: row.tx_hash,
    blockNumber: Number(row.block_number),
    blockHash: row.block_hash,
    timestamp: row.block_timestamp instanceof Date ? row.block_timestamp.toISOString() : null,
    kind: row.kind,
    given: row.given,
    received: row.received,
    fees: row.fees,
    tokenAddress: row.token_address,
    quote: row.quote_type === null ? null : { tokenAddress: row.quote_address },
    uncertain: row.uncertain,
  };
}

/** The same members of a record of the API. */
function listed(record: Row): Row {
  const { symbol, decimals, price, initiated, quote, ...rest } = record;
  const legs = (value: unknown) =>
    Object(value).map(({ tokenAddress, amount, tokenIds, count }: Row) => ({
      ...{ tokenAddress, amount },
      ...(tokenIds !== null && { tokenIds, count }),
    }));
  return {
    ...rest,
    given: legs(rest.given),
    received: legs(rest.received),
    fees: legs(rest.fees),
    quote: quote === null ? null : { tokenAddress: Object(quote).tokenAddress },
  };
}
