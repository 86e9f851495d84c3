import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { before, describe, test } from 'node:test';
import postgres from 'postgres';
import { bytesToDigits } from '../../src/lib/hex.ts';
import { decodeSigned } from '../../src/lib/signed.ts';
import { TRADE_COLUMNS } from '../../src/model/trade-columns.ts';
import { prepareFirstBuyers } from '../../src/query/tokens.ts';
import { type Db, openDatabase } from '../../src/store/open-database.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { codeBlocks, PAGES } from '../support/docs.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { indexedTransfers } from '../support/index/index-rows.ts';
import { startPostgres } from '../support/sink/postgres.ts';
import { grow, startSink } from '../support/sink/sink.ts';
import { PlainTrades } from '../support/trades/plain-trades.ts';
import { TRADE_LISTS } from '../support/trades/trade-lists.ts';
import { buysOf, COIN, profitsOf, tradingBlocks, winnersOf } from '../support/trades/trading-chain.ts';

/** Addresses in the documentation. */
const WALLET = 'f39fd6e51aad88f6f4ce6ab8827279cff8b92266';
const TOKEN = '3bd359c1119da7da1d913d1c4d2b7c461115433a';

describe('the documented SQL queries', () => {
  const cleanup = suiteCleanup();
  const questions = codeBlocks('sql postgres');
  let sql: postgres.Sql;
  let index: Db;
  /** The busiest wallet and ERC-20 token of the index. */
  let wallet: Buffer;
  let token: Buffer;
  let trades: PlainTrades;

  before(async () => {
    const server = await startPostgres(cleanup);
    const fixture = createIndex(cleanup, 1);
    grow(fixture, 120, 1);
    fixture.append(tradingBlocks());
    fixture.append([{ exact: [{ from: 'payer', to: 'payee', amount: 47_032_000_000_000_000_001n }] }]);
    trades = new PlainTrades(indexedTransfers(dirname(fixture.path)), {
      equivalents: TRADE_LISTS.nativeEquivalents,
      quotes: TRADE_LISTS.quoteTokens,
      sinks: TRADE_LISTS.feeSinks,
    });
    const url = await server.createDatabase('questions');
    const sink = startSink(cleanup, fixture, { url });
    await sink.equals();
    sql = postgres(url, { max: 1, connection: { search_path: 'atlas', enable_seqscan: 'off' } });
    cleanup.after(() => sql.end());
    index = openDatabase(fixture.path, { readonly: true });
    cleanup.after(() => void index.close());
    const first = (statement: string) =>
      index.prepare<[], Buffer>(statement).pluck().get() ?? Buffer.alloc(0);
    wallet = first('SELECT address FROM wallets WHERE id > 0 ORDER BY transfers DESC LIMIT 1');
    token = first(
      'SELECT address FROM tokens k JOIN wallets w ON w.id = k.wallet WHERE kind = 1 ORDER BY k.transfers DESC LIMIT 1',
    );
  });

  /** The query with addresses of this index. */
  const adapted = (question: string): string => {
    const about = question.includes('FROM trades') ? COIN.slice(2) : bytesToDigits(token);
    return question.replaceAll(WALLET, bytesToDigits(wallet)).replaceAll(TOKEN, about);
  };
  const question = (words: string): string => {
    const found = questions.filter((text) => text.includes(words));
    assert.equal(found.length, 1, `one question has "${words}"`);
    return adapted(found[0] ?? '');
  };

  test('are ten, and each finds rows', async () => {
    assert.equal(questions.length, 10);
    for (const text of questions) {
      const rows = await sql.unsafe(adapted(text));
      assert.ok(rows.length > 0, text);
    }
  });

  test('give the balances, holders, first receivers and counterparties of the index', async () => {
    const holders = index
      .prepare<[Buffer], { address: Buffer; balance: Buffer }>(/* sql */ `
        SELECT w.address, h.balance FROM wallets c JOIN tokens k ON k.wallet = c.id JOIN holdings h ON h.token = k.id
        JOIN wallets w ON w.id = h.wallet WHERE c.address = ?`)
      .all(token)
      .map(({ address, balance }) => [bytesToDigits(address), decodeSigned(balance)] as const)
      .filter(([, balance]) => balance > 0n)
      .sort(([, a], [, b]) => (a < b ? 1 : -1));
    const held = await sql.unsafe(question('HAVING sum(side.amount) > 0'));
    assert.deepEqual(
      held.map(({ address, balance }) => [bytesToDigits(address), BigInt(balance)]),
      holders.slice(0, 20),
    );

    const id = index
      .prepare<[Buffer], number>(
        'SELECT k.id FROM wallets c JOIN tokens k ON k.wallet = c.id WHERE c.address = ?',
      )
      .pluck()
      .get(token);
    const receivers = prepareFirstBuyers(index)(id ?? 0, 0, 20);
    const first = await sql.unsafe(question('min(block_timestamp) AS first_received'));
    assert.deepEqual(
      first.map((row) => bytesToDigits(row['to_address'])),
      receivers.map(({ address }) => address),
    );

    const partners = await sql.unsafe(question('AS counterparty').replace('LIMIT 20', ''));
    const listed = partners.reduce((sum, row) => sum + Number(row['sent']) + Number(row['received']), 0);
    const own = `id = (SELECT id FROM wallets WHERE address = ?)`;
    const sides = index
      .prepare<[Buffer, Buffer], number>(/* sql */ `
        SELECT (SELECT count(*) FROM transfers WHERE sender IN (SELECT id FROM wallets WHERE ${own}))
          + (SELECT count(*) FROM transfers WHERE receiver IN (SELECT id FROM wallets WHERE ${own}))`)
      .pluck()
      .get(wallet, wallet);
    assert.equal(listed, sides);
  });

  test('give the profits, first buyers and volumes of a plain count of trades', async () => {
    const byProfit = profitsOf(trades);
    const rows = await sql.unsafe(question('AS profit\nFROM ('));
    assert.deepEqual(
      rows.map((row) => ({ wallet: bytesToDigits(row['wallet_address']), profit: BigInt(row['profit']) })),
      byProfit.slice(0, 20),
    );
    assert.ok(byProfit.length > 5 && byProfit.some(({ profit }) => profit < 0n));

    const winners = await sql.unsafe(question('AS gain\n'));
    assert.deepEqual(winners.map((row) => bytesToDigits(row['wallet_address'])).sort(), winnersOf(trades));
    assert.ok(winners.length > 1 && winners.length < byProfit.length);

    const volumes = await sql.unsafe(question('AS buyers\n'));
    assert.equal(
      volumes.reduce((sum, row) => sum + Number(row['trades']), 0),
      buysOf(trades),
    );
  });

  test('about trades name every column', async () => {
    const section =
      (PAGES.find(({ path }) => path === 'docs/analytics.md')?.text ?? '')
        .split('## Trades')[1]
        ?.split('\n## ')[0] ?? '';
    const table = section.split('\n').filter((line) => line.startsWith('| `'));
    const named = table.flatMap((line) =>
      [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
    assert.deepEqual(
      named,
      TRADE_COLUMNS.map(({ name }) => name),
    );
    const legs = section.split('-- PostgreSQL')[1]?.split('```')[0]?.replace(/^.*\n/, '') ?? '';
    const found = await sql.unsafe(legs.replaceAll(TOKEN, COIN.slice(2)));
    assert.ok(found.length > 10);
  });

  test('find amounts in whole coins to the last digit', async () => {
    const rows = await sql`SELECT quantity FROM named_transfers ORDER BY id DESC LIMIT 1`;
    assert.deepEqual([...rows], [{ quantity: '47.032000000000000001' }]);
  });

  test('about a wallet, a token or a time use an index', async () => {
    for (const words of [
      'token_symbol, quantity,\n',
      'AS balance\nFROM (',
      'HAVING sum(side.amount)',
      'AS first_received',
      "interval '7 days'",
    ]) {
      const plan = await sql.unsafe(`EXPLAIN ${question(words)}`);
      const lines = plan.map((row) => String(row['QUERY PLAN']));
      assert.ok(!lines.some((line) => /Seq Scan on transfers/.test(line)), lines.join('\n'));
    }
  });
});
