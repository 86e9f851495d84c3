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

  test('with joins, windows and exact sums have the same cells, too', async () => {
    const EVERY = `(SELECT token_address, transfer_type, to_address AS address, amount FROM transfers UNION ALL
      SELECT token_address, transfer_type, from_address, -amount FROM transfers) m`;
    const cases: [ours: string, theirs: string][] = [
      [
        `SELECT h.token_address, h.holder_address, h.balance FROM holders h JOIN tokens k USING (token_address)
         WHERE k.token_type = 'erc20'`,
        `SELECT m.token_address, address, sum(amount) FROM ${EVERY} JOIN tokens k USING (token_address)
         WHERE token_type = 'erc20' AND transfer_type = 'erc20' GROUP BY 1, 2 HAVING sum(amount) > 0`,
      ],
      [
        `SELECT id, sum_amount(amount) OVER (ORDER BY id), row_number() OVER (ORDER BY id DESC) FROM transfers
         WHERE to_address = '0x${WALLET}' AND token_address IS NULL`,
        `SELECT id, sum(amount) OVER (ORDER BY id), row_number() OVER (ORDER BY id DESC) FROM transfers
         WHERE to_address = '\\x${WALLET}' AND token_address IS NULL`,
      ],
      [
        `SELECT token_address, id, amount FROM (SELECT token_address, id, amount, row_number() OVER (
           PARTITION BY token_address ORDER BY length(amount) DESC, amount DESC, id) AS n
           FROM transfers WHERE transfer_type = 'erc20') WHERE n <= 3`,
        `SELECT token_address, id, amount FROM (SELECT token_address, id, amount, row_number() OVER (
           PARTITION BY token_address ORDER BY amount DESC, id) AS n
           FROM transfers WHERE transfer_type = 'erc20') ranked WHERE n <= 3`,
      ],
      [
        'SELECT number, transfers, lag(number) OVER (ORDER BY number) FROM blocks',
        `SELECT number, last_transfer - lag(last_transfer, 1, 0::bigint) OVER (ORDER BY number),
           lag(number) OVER (ORDER BY number) FROM blocks`,
      ],
      [
        `SELECT t.kind, t.token_address, k.token_type, count(*), sum_amount(t.token_amount), sum_amount(t.quote_amount)
         FROM trades t JOIN tokens k USING (token_address) GROUP BY 1, 2, 3`,
        `SELECT t.kind, t.token_address, k.token_type, count(*), sum(t.token_amount), sum(t.quote_amount)
         FROM trades t JOIN tokens k USING (token_address) GROUP BY 1, 2, 3`,
      ],
      [
        'SELECT token_address, buyer_address, transfer_id FROM first_buyers',
        `SELECT token_address, to_address, id FROM (SELECT *, row_number() OVER (PARTITION BY token_address ORDER BY id)
           AS n FROM (SELECT t.token_address, to_address, min(t.id) AS id
             FROM transfers t JOIN tokens USING (token_address)
             WHERE transfer_type = token_type AND amount > 0 AND to_address <> '\\x${'00'.repeat(20)}'
             GROUP BY 1, 2) firsts) ranked WHERE n <= 200`,
      ],
      [
        `SELECT strftime('%Y-%m-%d %H:%M', block_timestamp), transfer_type, count(*), count(DISTINCT from_address)
         FROM transfers GROUP BY 1, 2`,
        `SELECT to_char(block_timestamp, 'YYYY-MM-DD HH24:MI'), transfer_type, count(*), count(DISTINCT from_address)
         FROM transfers GROUP BY 1, 2`,
      ],
      [
        'SELECT to_address FROM transfers EXCEPT SELECT from_address FROM transfers',
        'SELECT to_address FROM transfers EXCEPT SELECT from_address FROM transfers',
      ],
      [
        `SELECT w.address, (SELECT count(*) FROM transfers t WHERE t.from_address = w.address) FROM wallets w
         WHERE w.transfers > 20`,
        `SELECT address, sum(sent) FROM (SELECT from_address AS address, 1 AS sent, id FROM transfers
           UNION ALL SELECT to_address, 0, id FROM transfers) m GROUP BY 1 HAVING count(DISTINCT id) > 20`,
      ],
      [
        `SELECT b.wallet_address, count(*), min(s.first_transfer) FROM trades b
         JOIN trades s ON s.wallet_address = b.wallet_address AND s.token_address = b.token_address
         WHERE b.kind = 'buy' AND s.kind = 'sell' AND s.first_transfer > b.first_transfer GROUP BY 1`,
        `SELECT b.wallet_address, count(*), min(s.first_transfer) FROM trades b
         JOIN trades s ON s.wallet_address = b.wallet_address AND s.token_address = b.token_address
         WHERE b.kind = 'buy' AND s.kind = 'sell' AND s.first_transfer > b.first_transfer GROUP BY 1`,
      ],
    ];
    for (const [ours, theirs] of cases) {
      const { rows } = session.run(adapted(ours), LIMITS);
      const expected = await sql.unsafe(adapted(theirs)).values();
      const cells = (answer: readonly (readonly unknown[])[]) =>
        answer.map((row) => row.map((value) => plain(value, '')).join(' ')).sort();
      assert.ok(rows.length > 0, ours);
      assert.deepEqual(cells(rows), cells(expected), ours);
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
