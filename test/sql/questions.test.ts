/** The questions of the documentation have the answers of PostgreSQL. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import postgres from 'postgres';
import { SqlSession } from '../../src/sql/session.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { codeBlocks } from '../support/docs.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { startPostgres } from '../support/sink/postgres.ts';
import { grow, startSink } from '../support/sink/sink.ts';
import { TRADE_LISTS } from '../support/trades/trade-lists.ts';
import { COIN, tradingBlocks } from '../support/trades/trading-chain.ts';

/** Addresses in the documentation, without prefix. */
const WALLET = 'f39fd6e51aad88f6f4ce6ab8827279cff8b92266';
const TOKEN = '3bd359c1119da7da1d913d1c4d2b7c461115433a';
const LIMITS = { rows: 100_000, bytes: 2 ** 26 };

describe('the documented queries', () => {
  const cleanup = suiteCleanup();
  let sql: postgres.Sql;
  let session: SqlSession;
  let wallet: string;
  let token: string;

  before(async () => {
    const server = await startPostgres(cleanup);
    const fixture = createIndex(cleanup, 1);
    grow(fixture, 80, 1);
    fixture.append(tradingBlocks());
    const url = await server.createDatabase('answers');
    const sink = startSink(cleanup, fixture, { url });
    await sink.equals();
    sql = postgres(url, { max: 1, connection: { search_path: 'atlas', TimeZone: 'UTC' } });
    cleanup.after(() => sql.end());
    session = new SqlSession(fixture.path, TRADE_LISTS);
    cleanup.after(() => session.close());
    const first = (query: string) => String(session.run(query, LIMITS).rows[0]?.[0]).slice(2);
    wallet = first(`SELECT address FROM wallets WHERE address > '0x1' ORDER BY transfers DESC LIMIT 1`);
    token = first(
      `SELECT token_address FROM tokens WHERE token_type = 'erc20' ORDER BY transfers DESC LIMIT 1`,
    );
  });

  /** With addresses of this index, and without a limit, at which equal rows may differ. */
  const adapted = (query: string): string =>
    query
      .replaceAll(WALLET, wallet)
      .replaceAll(TOKEN, query.includes('FROM trades') ? COIN.slice(2) : token)
      .replace(/ LIMIT \d+;/, ';');

  test('are the ten of PostgreSQL, with the same answers', async () => {
    const [theirs, ours] = [codeBlocks('sql postgres'), codeBlocks('sql question')];
    assert.equal(ours.length, 10);
    assert.equal(theirs.length, 10);
    for (const [i, query] of ours.entries()) {
      const { columns, rows } = session.run(adapted(query), LIMITS);
      const expected = await sql.unsafe(adapted(theirs[i] ?? ''));
      assert.ok(rows.length > 0, query);
      assert.deepEqual(
        columns,
        expected.columns.map(({ name }) => name),
        query,
      );
      const answered = rows.map((row) => row.map((value, at) => plain(value, columns[at] ?? '')));
      const wanted = expected.map((row) => columns.map((column) => plain(row[column], column)));
      assert.deepEqual(answered.map(String).sort(), wanted.map(String).sort(), query);
    }
  });

  test('of single tables all find rows, and read by index where they name a wallet or a token', () => {
    const examples = codeBlocks('sql atlas')
      .flatMap((block) => block.split(/(?<=;)\n/))
      .filter((text) => text.trim());
    assert.equal(examples.length, 9);
    for (const example of examples) {
      const { rows, plan } = session.run(adapted(example).replaceAll(' LIMIT 5', ''), LIMITS);
      if (!/funder_address/.test(example)) assert.ok(rows.length > 0, example);
      if (/'0x/.test(example))
        assert.ok(
          plan.every(({ scannedRows }) => scannedRows === null),
          example,
        );
    }
  });
});

/** PostgreSQL rounds what it divides. */
const DIVIDED = ['volume', 'paid', 'share_sold', 'gain'];

/** A value of either database as comparable text. */
function plain(value: unknown, column: string): string {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`;
  if (value instanceof Date) return plain(value.toISOString().slice(0, 19).replace('T', ' '), column);
  const text = String(value).replace(/ 00:00:00$/, '');
  if (DIVIDED.includes(column)) return Number(text).toPrecision(12);
  return /^-?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text;
}
