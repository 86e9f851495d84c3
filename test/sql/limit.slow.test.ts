/** A LIMIT sets the size of the first portion that is read; the rows are those of the whole answer, cut. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Parameters, SqlSession, type Value } from '../../src/sql/session.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { grow } from '../support/sink/sink.ts';
import { TRADE_LISTS } from '../support/trades/trade-lists.ts';
import { tradingBlocks } from '../support/trades/trading-chain.ts';

const LIMITS = { rows: 100_000, bytes: 2 ** 26 };

/** Around the sizes of the first portions, and beyond the last row. */
const CUTS: readonly [rows: number, offset: number][] = [
  ...[0, 1, 2, 16, 17, 63, 64, 65, 100_000].map((rows): [number, number] => [rows, 0]),
  ...[1, 50, 130].map((offset): [number, number] => [10, offset]),
];

describe('a LIMIT cuts the whole answer', () => {
  const cleanup = suiteCleanup();
  let session: SqlSession;
  /** What the queries name. */
  let named: Record<'$wallet' | '$other' | '$token', string>;

  before(() => {
    const fixture = createIndex(cleanup, 1);
    grow(fixture, 300, 1);
    fixture.append(tradingBlocks());
    session = new SqlSession(fixture.path, TRADE_LISTS);
    cleanup.after(() => session.close());
    const [wallet, other] = rowsOf(
      `SELECT address FROM wallets WHERE address > '0x1' ORDER BY transfers DESC LIMIT 2`,
    );
    const [token] = rowsOf('SELECT token_address FROM tokens ORDER BY transfers DESC LIMIT 1');
    named = { $wallet: `'${wallet}'`, $other: `'${other}'`, $token: `'${token}'` };
  });

  function rowsOf(query: string, parameters: Parameters = {}): Value[][] {
    const text = query.replace(/\$(?:wallet|other|token)/g, (name) => named[name as keyof typeof named]);
    return session.run(text, LIMITS, parameters).rows;
  }

  const QUERIES: Record<string, { query: string; leastRows: number }> = {
    'of all transfers, newest first': { query: 'SELECT id FROM transfers ORDER BY id DESC', leastRows: 500 },
    'of all transfers, oldest first': {
      query: 'SELECT id, amount FROM transfers ORDER BY id',
      leastRows: 500,
    },
    'of blocks, newest first': { query: 'SELECT number FROM blocks ORDER BY number DESC', leastRows: 300 },
    'of blocks that a filter keeps': {
      query: 'SELECT number, hash FROM blocks WHERE transfers > 30 ORDER BY number',
      leastRows: 20,
    },
    'of a history, newest first': {
      query:
        'SELECT id, tx_hash FROM transfers WHERE from_address = $wallet OR to_address = $wallet ORDER BY id DESC',
      leastRows: 150,
    },
    'of a history, oldest first': {
      query: 'SELECT id FROM transfers WHERE token_address = $token ORDER BY id',
      leastRows: 150,
    },
    'of a history in the order in which it is read': {
      query: 'SELECT id, quantity FROM named_transfers WHERE token_address = $token',
      leastRows: 150,
    },
    'of a history by amount': {
      query: 'SELECT id FROM transfers WHERE to_address = $wallet ORDER BY amount_real DESC, id',
      leastRows: 60,
    },
    'of two histories': {
      query: 'SELECT id FROM transfers WHERE from_address IN ($wallet, $other) ORDER BY id DESC',
      leastRows: 100,
    },
    'of a history of which most rows are rejected': {
      query: 'SELECT id FROM transfers WHERE token_address = $token AND id % 7 = 3 ORDER BY id DESC',
      leastRows: 20,
    },
    'of a history within blocks, of one token': {
      query:
        'SELECT id FROM transfers WHERE to_address = $wallet AND token_address = $token AND block_number < 280 ' +
        'ORDER BY block_number DESC, id DESC',
      leastRows: 5,
    },
    'of a join': {
      query:
        'SELECT t.id, b.hash FROM transfers t JOIN blocks b ON b.number = t.block_number ' +
        'WHERE t.to_address = $wallet ORDER BY t.id DESC',
      leastRows: 60,
    },
    'of groups': {
      query: 'SELECT to_address, count(*) FROM transfers GROUP BY to_address ORDER BY to_address',
      leastRows: 20,
    },
    'of distinct rows': {
      query: 'SELECT DISTINCT token_address FROM transfers WHERE to_address = $wallet ORDER BY token_address',
      leastRows: 3,
    },
    'of two queries in one': {
      query:
        'SELECT id FROM transfers WHERE from_address = $wallet UNION SELECT id FROM transfers ' +
        'WHERE to_address = $wallet ORDER BY id DESC',
      leastRows: 150,
    },
    'of trades': {
      query: 'SELECT first_transfer, wallet_address FROM trades ORDER BY first_transfer DESC, wallet_address',
      leastRows: 5,
    },
  };

  for (const [name, { query, leastRows }] of Object.entries(QUERIES))
    test(name, () => {
      const all = rowsOf(query);
      assert.ok(all.length >= leastRows, `${all.length} rows`);
      for (const [rows, offset] of CUTS) {
        const expected = all.slice(offset, offset + rows);
        const assertCut = (limit: string, parameters?: Parameters) =>
          assert.deepEqual(rowsOf(`${query} ${limit}`, parameters), expected, limit);
        if (offset === 0) assertCut(`LIMIT ${rows}`);
        assertCut(`LIMIT ${rows} OFFSET ${offset}`);
        assertCut(`LIMIT ${offset}, ${rows}`);
        assertCut('LIMIT $rows OFFSET $offset', { rows: BigInt(rows), offset: BigInt(offset) });
        assertCut(`LIMIT (SELECT ${rows}) OFFSET 2 * ${offset} / 2`);
        assert.deepEqual(rowsOf(`SELECT * FROM (${query} LIMIT ${rows} OFFSET ${offset})`), expected);
      }
      assert.deepEqual(rowsOf(`${query} LIMIT -1`), all);
    });
});
