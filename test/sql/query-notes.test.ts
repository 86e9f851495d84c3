/** What a query says of itself before it runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkQuery } from '../../src/sql/check-query.ts';
import { scanNotes } from '../../src/sql/scan-notes.ts';

const WALLET = `0x${'ab'.repeat(20)}`;

function notesOf(query: string): string[] {
  return checkQuery(query).notes;
}

/** Each query has the one note, if any. */
function each(cases: readonly (readonly [query: string, note: string | RegExp | null])[]): void {
  for (const [query, note] of cases) {
    const notes = notesOf(query);
    assert.equal(notes.length, note === null ? 0 : 1, `${query}: ${notes.join('\n')}`);
    if (typeof note === 'string') assert.equal(notes[0], note, query);
    else if (note !== null) assert.match(notes[0] ?? '', note, query);
  }
}

const textOf = (...columns: string[]) =>
  `orders or compares ${columns.join(' and ')} as text, where 9 comes after 10, and any text after any number: write ` +
  columns.map((column) => `${column}_real`).join(' and ');

test('amounts that are ordered or compared as text', () => {
  each([
    ['SELECT holder_address FROM holders ORDER BY balance DESC LIMIT 3', textOf('balance')],
    ['SELECT holder_address FROM holders h ORDER BY h."balance"', textOf('balance')],
    ['SELECT units(max(amount), 18) FROM transfers', textOf('amount')],
    ['SELECT token_address, min(t.amount) FROM transfers t GROUP BY 1', textOf('amount')],
    ['SELECT id FROM transfers WHERE amount > 1000', textOf('amount')],
    ['SELECT id FROM transfers WHERE 1000 = amount', textOf('amount')],
    [
      'SELECT address FROM wallets WHERE native_sent BETWEEN 1 AND 5 ORDER BY native_received',
      textOf('native_received', 'native_sent'),
    ],
    ['SELECT id FROM named_transfers ORDER BY quantity DESC LIMIT 1', textOf('quantity')],
    ['SELECT holder_address FROM (SELECT * FROM holders ORDER BY balance LIMIT 3)', textOf('balance')],
    ['SELECT balance FROM (SELECT balance FROM holders) ORDER BY balance', textOf('balance')],
    // As numbers, exactly, or by something else of that name.
    ['SELECT holder_address FROM holders ORDER BY balance_real DESC', null],
    ['SELECT holder_address FROM holders ORDER BY length(balance) DESC, balance DESC', null],
    ['SELECT holder_address, balance_real AS balance FROM holders ORDER BY balance', null],
    ['SELECT balance FROM (SELECT balance_real AS balance FROM holders) ORDER BY balance', null],
    ['SELECT x.balance FROM holders, (SELECT 1 AS balance) x ORDER BY x.balance, 1', null],
    ["SELECT max('amount'), min(amount, '5'), max(length(amount)) FROM transfers", null],
    ['SELECT sum_amount(amount) AS amount FROM transfers ORDER BY amount', null],
    ["SELECT id FROM transfers WHERE amount = '1000' AND CAST(amount AS REAL) > 5", null],
    ['SELECT id FROM transfers ORDER BY block_number DESC LIMIT 1', null],
  ]);
});

test('amounts that are added or computed with as floating-point numbers', () => {
  const summed =
    'sum() adds amount as floating-point numbers, which keep some 15 digits: sum_amount(amount) is exact, and ' +
    'sum(amount_real) says that near is enough';
  const computed = /^computes with (?:t\.)?amount as a floating-point number, .* amount_real says that near/;
  each([
    ['SELECT sum(amount) FROM transfers', summed],
    ['SELECT total(DISTINCT amount) FROM transfers', summed],
    ['SELECT sum(amount) OVER (ORDER BY id), sum(amount) FROM transfers', summed],
    ['SELECT sum(CASE WHEN id > 5 THEN amount ELSE 0 END) FROM transfers', summed],
    ['SELECT 1 FROM transfers GROUP BY token_address HAVING sum(amount) > 5', summed],
    ['SELECT token_address FROM transfers GROUP BY 1 ORDER BY sum(amount) DESC', summed],
    [
      'SELECT sum(m.amount) FROM (SELECT * FROM transfers) m',
      summed.replace('amount as', 'm.amount as').replace('sum_amount(', 'sum_amount(m.'),
    ],
    ['WITH m AS (SELECT t.*, 1 FROM transfers t) SELECT sum(amount) FROM m', summed],
    [
      'SELECT sum(a) FROM (SELECT amount AS a FROM transfers UNION ALL SELECT 1)',
      /^sum\(\) adds a as .* sum_amount\(a\)/,
    ],
    ['WITH m(x, y) AS (SELECT id, amount FROM transfers) SELECT sum(y) FROM m', /^sum\(\) adds y as/],
    [
      'SELECT sum(token_quantity) FROM named_trades',
      /adds token_quantity .* units\(sum_amount\(x\), decimals\)[^;]* exact$/,
    ],
    ['SELECT amount / 1e18 FROM transfers', computed],
    ['SELECT sum(t.amount / 1e18) FROM transfers t', computed],
    ['SELECT -amount FROM transfers', computed],
    ['SELECT CAST(amount AS BIGINT), round(amount, 2) FROM transfers', computed],
    ['SELECT id FROM transfers WHERE 5 * amount > 5', computed],
    ['SELECT balance - 1 FROM holders ORDER BY balance_real', /^computes with balance /],
    [
      'SELECT sum(amount_real), sum(id), count(amount), avg(amount), group_concat(amount) FROM transfers',
      null,
    ],
    ['SELECT sum(length(amount)), sum(amount_real / 1e18), units(amount, 18) FROM transfers', null],
    ["SELECT sum(CASE WHEN amount = '5' THEN 1 ELSE 0 END) FROM transfers", null],
    ['SELECT CAST(amount AS REAL), CAST(amount AS TEXT), amount || 1, t.* FROM transfers t', null],
    ['SELECT sum(amount) FROM (SELECT amount_real AS amount FROM transfers)', null],
    ['WITH transfers AS (SELECT 1 AS amount) SELECT sum(amount), amount * 2 FROM transfers', null],
    ['WITH m(amount, x) AS (SELECT id, amount FROM transfers) SELECT sum(amount) FROM m', null],
    ['SELECT sum(amount) FROM transfers t, json_each(1) x', null],
    ['SELECT sum_amount(amount), count(*) FROM transfers', null],
  ]);
  const maximum = notesOf('SELECT max(amount) - min(amount) FROM transfers');
  assert.deepEqual([maximum[0], maximum.length], [textOf('amount'), 2]);
});

test('times that are computed with, or compared with what is no time', () => {
  each([
    [
      'SELECT timestamp + 3600 FROM blocks',
      /^computes with timestamp, which is text, .*unixepoch\(timestamp\)/,
    ],
    ['SELECT max(timestamp) - min(timestamp) FROM blocks', /^computes with timestamp, /],
    ['SELECT CAST(block_timestamp AS DATE) FROM transfers', /^computes with block_timestamp, /],
    ['SELECT 1 FROM blocks WHERE timestamp > 1700000000', /write datetime\(1700000000, 'unixepoch'\)$/],
    [
      "SELECT 1 FROM blocks WHERE timestamp BETWEEN '28.11.2026' AND '2026-12-01'",
      /with "28\.11\.2026", which is no time/,
    ],
    ["SELECT unixepoch(timestamp) - 5, date(timestamp), timestamp || 'Z' FROM blocks", null],
    ["SELECT 1 FROM blocks WHERE timestamp >= '2026-11-28T08:00:00.000Z' AND timestamp < '2026-12'", null],
    ["SELECT 1 FROM blocks WHERE timestamp > datetime('now', '-1 day')", null],
  ]);
});

test('values that a column never has', () => {
  each([
    [
      "SELECT 1 FROM transfers WHERE transfer_type = 'ERC20'",
      'no row has the transfer_type "ERC20": it is one of native_direct, erc20, native_internal, erc721, erc1155',
    ],
    [
      "SELECT 1 FROM transfers WHERE id > 5 OR transfer_type IN ('erc20', 'native')",
      /"native": it is one of/,
    ],
    [
      "SELECT 1 FROM (SELECT kind AS k FROM trades) WHERE k = 'Buy'",
      /^no row has the kind "Buy": it is one of buy, /,
    ],
    [
      "SELECT 1 FROM transfers WHERE token_address = 'DEMO'",
      'no row has the token_address "DEMO": an address is 0x and 40 digits',
    ],
    [
      "SELECT 1 FROM transfers t JOIN tokens k ON t.from_address = 'a' AND k.symbol = 'DEMO'",
      /from_address "a"/,
    ],
    [`SELECT 1 FROM transfers WHERE token_address = '0x${'0'.repeat(40)}'`, /write token_address IS NULL$/],
    [
      "SELECT 1 FROM transfers WHERE tx_hash = '0x12'",
      /no row has the tx_hash "0x12": a hash is 0x and 64 digits/,
    ],
    [
      `SELECT 1 FROM transfers WHERE from_address IN ('${WALLET.toUpperCase()}', '\\x${'ab'.repeat(20)}')`,
      null,
    ],
    [`SELECT 1 FROM transfers WHERE from_address = x'${'ab'.repeat(20)}' OR to_address = lower('A')`, null],
    ["SELECT 1 FROM transfers WHERE transfer_type = :type AND from_address > '0x12'", null],
    ["SELECT 1 FROM trades WHERE token_type = 'native' AND kind <> 'none'", null],
  ]);
  assert.deepEqual(notesOf("SELECT '' FROM tokens WHERE token_address = ''"), [
    'of native coins token_address is null: write token_address IS NULL',
  ]);
  const many = Array.from({ length: 50 }, (_, i) => `from_address = 'a${i}'`).join(' OR ');
  assert.equal(notesOf(`SELECT 1 FROM transfers WHERE ${many}`).length, 5, 'within a bound');
});

test('a scan is told, with what would lead to an index', () => {
  const scan = (table: string, scannedRows: number | null, by: string[] = []) => ({
    ...{ table, alias: table, by, scannedRows },
  });
  assert.deepEqual(scanNotes([scan('transfers', null, ['id'])]), []);
  assert.match(scanNotes([scan('transfers', 30)])[0] ?? '', /^scans transfers, about 30 rows: /);
  assert.deepEqual(scanNotes([scan('tokens', 30), scan('named_transfers', 81_204_117)]), [
    'scans tokens, about 30 rows, and named_transfers, about 81,204,117 rows: no condition leads to an index; for ' +
      'analyses of whole tables see "atlas-node export tokens", "atlas-node export transfers"',
  ]);
  assert.match(
    scanNotes([scan('transfers', 1e6, ['tx_hash'])])[0] ?? '',
    /: no index has transactions by hash, so name the block [^;]+; /,
  );
});
