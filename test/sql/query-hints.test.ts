/** What a query with a mistake is told besides the mistake. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkQuery } from '../../src/sql/check-query.ts';
import { QueryRefusal } from '../../src/sql/query-refusal.ts';
import { SHAPES } from '../../src/sql/tables/tables.ts';

function messageOf(query: string): string {
  try {
    checkQuery(query);
  } catch (error) {
    assert.ok(error instanceof QueryRefusal, String(error));
    return error.message;
  }
  return assert.fail(`the query runs: ${query}`);
}

test('a column that does not exist names those of the tables that may be meant', () => {
  const holders = 'holders has token_address, holder_address, balance, balance_real, transfers';
  assert.equal(messageOf('SELECT * FROM holders WHERE wallet = 1'), `no such column: wallet; ${holders}`);
  assert.equal(
    messageOf('SELECT 1 FROM holders H JOIN tokens t ON h.token = t.token_address'),
    `no such column: h.token; ${holders}`,
  );
  assert.match(
    messageOf('SELECT wallet FROM holders, holders b, blocks'),
    /; holders has [^;]+; blocks has [^;]+$/,
  );
  assert.equal(
    messageOf('SELECT holders.balance FROM holders h'),
    'no such column: holders.balance; the query names holders h: write h.balance',
  );
  assert.match(messageOf('SELECT "DEMO" FROM holders'), /single-quotes\?; holders has /);
  assert.equal(messageOf('SELECT m.x FROM (SELECT 1 AS y) m, holders'), 'no such column: m.x');
  assert.equal(messageOf('SELECT x'), 'no such column: x');
});

test('the columns of any table are told whole, those of many tables within a bound', () => {
  for (const { name, columns } of SHAPES)
    assert.ok(
      messageOf(`SELECT x FROM ${name}`).endsWith(`${name} has ${columns.map((one) => one.name).join(', ')}`),
    );
  const all = messageOf(`SELECT x FROM ${SHAPES.map(({ name }) => name).join(', ')}`);
  assert.ok(all.length < 700, String(all.length));
  const long = messageOf(`SELECT ${'x'.repeat(100_000)} FROM holders`);
  assert.ok(long.length < 600 && long.includes('; holders has'), long);
});

test('a name that is nearly right, or one of another table, is told', () => {
  assert.match(messageOf('SELECT balanc FROM holders'), /: balanc; did you mean balance\?; holders has /);
  assert.match(
    messageOf('SELECT t.symbol FROM transfers t'),
    /; symbol is a column of tokens; transfers has /,
  );
  assert.match(messageOf('SELECT 1 FROM token'), /; did you mean tokens\? the tables are transfers, /);
  assert.equal(messageOf('SELECT sumamount(1)'), 'no such function: sumamount; did you mean sum_amount()?');
});

test('the words of other databases are answered with those that work here', () => {
  const FIRST = /; LIMIT n at the end/;
  const TIMES = /; times are text: datetime\('now'\)/;
  const CASTS = /; a cast is written CAST/;
  const PATTERNS = /; x LIKE 'a%' takes/;
  const ARRAYS = /; there are no arrays: x IN/;
  const PARTS = /; substr\(x, from, length\)/;
  const LISTS = /; the tables and columns are listed by "atlas-node sql \.schema"/;
  for (const [query, hint] of [
    ['SELECT TOP 10 * FROM transfers', FIRST],
    ['SELECT * FROM transfers FETCH FIRST 5 ROWS ONLY', FIRST],
    ['SELECT * FROM blocks ORDER BY number OFFSET 5 ROWS FETCH NEXT 5 ROWS ONLY', FIRST],
    ['SELECT * FROM blocks WHERE rownum < 10', FIRST],
    ['SELECT * FROM blocks LIMIT ALL', FIRST],
    ['SELECT DISTINCT ON (token_address) * FROM transfers', /; GROUP BY x gives one row for each x/],
    ['SELECT * FROM tokens k, LATERAL (SELECT 1) x', /; only a query among the results/],
    ['SELECT * FROM tokens k CROSS APPLY (SELECT 1) x', /; only a query among the results/],
    ['SELECT * FROM blocks QUALIFY row_number() OVER (ORDER BY number) = 1', /WHERE n = 1$/],
    ['SELECT * FROM transfers TABLESAMPLE BERNOULLI (1)', /; id % 100 = 0/],
    ['SELECT token_address, count(*) FROM transfers GROUP BY ALL', /; GROUP BY names its columns/],
    ['SELECT token_address FROM transfers GROUP BY ROLLUP(token_address)', /; GROUP BY names its columns/],
    ['SELECT * EXCLUDE (amount) FROM transfers', /; name the columns/],
    ['SELECT from, to FROM transfers', /are from_address and to_address$/],
    ["SELECT * FROM transfers WHERE token = 'DEMO'", /; .* token_symbol = 'DEMO'$/],
    ["SELECT 1 FROM transfers t WHERE t.to = 'a'", /are from_address and to_address$/],
    ['SELECT amount::numeric FROM transfers', CASTS],
    ['SELECT TRY_CAST(amount AS DOUBLE) FROM transfers', CASTS],
    ['SELECT toUInt256(amount) FROM transfers', CASTS],
    ["SELECT date_trunc('day', timestamp) FROM blocks", TIMES],
    ['SELECT now()', TIMES],
    ["SELECT to_char(timestamp, 'YYYY') FROM blocks", TIMES],
    ["SELECT * FROM blocks WHERE timestamp > datetime('now') - interval '7 days'", TIMES],
    ['SELECT * FROM blocks WHERE timestamp > current_timestamp - INTERVAL 7 DAY', TIMES],
    ["SELECT timestamp '2026-01-01'", TIMES],
    ['SELECT datediff(day, timestamp, 1) FROM blocks', TIMES],
    ['SELECT EXTRACT(hour FROM timestamp) FROM blocks', TIMES],
    ["SELECT timestamp AT TIME ZONE 'UTC' FROM blocks", TIMES],
    ["SELECT * FROM tokens WHERE symbol ILIKE 'demo'", PATTERNS],
    ["SELECT * FROM tokens WHERE symbol ~* '^d'", PATTERNS],
    ["SELECT * FROM tokens WHERE symbol REGEXP 'd'", PATTERNS],
    ["SELECT * FROM tokens WHERE symbol SIMILAR TO 'd'", PATTERNS],
    ["SELECT * FROM tokens WHERE regexp_like(symbol, 'd')", PATTERNS],
    ["SELECT * FROM tokens WHERE symbol = ANY(ARRAY['DEMO'])", ARRAYS],
    ["SELECT * FROM tokens WHERE symbol = ANY('{DEMO}')", ARRAYS],
    ['SELECT array_agg(symbol) FROM tokens', ARRAYS],
    ['SELECT json_agg(symbol) FROM tokens', /; json_group_array\(x\)/],
    ["SELECT position('x' IN tx_hash) FROM transfers", PARTS],
    ['SELECT substring(tx_hash FROM 1 FOR 4) FROM transfers', PARTS],
    ['SELECT left(tx_hash, 4) FROM transfers', PARTS],
    ["SELECT encode(tx_hash, 'hex') FROM transfers", /; addresses and hashes are text/],
    ["SELECT group_concat(symbol SEPARATOR ',') FROM tokens", /; group_concat\(x, ', '\)/],
    ["SELECT listagg(symbol, ',') FROM tokens", /; group_concat\(x, ', '\)/],
    ['SELECT count(DISTINCT from_address, to_address) FROM transfers', /counts pairs$/],
    ['SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount_real) FROM transfers', /; median\(x\)/],
    ['SELECT stddev(amount_real) FROM transfers', /; sqrt\(avg/],
    ['SELECT nvl(token_id, 0) FROM transfers', /; coalesce/],
    ['SELECT div(amount, 2) FROM transfers', /; a \/ b of whole numbers is cut; .*mul_div/],
    ['SELECT 7 // 2', /; a \/ b of whole numbers is cut/],
    ['SELECT 2 ^ 3', /; pow\(a, b\)/],
    [`SELECT 1 FROM wallets WHERE address = 0x${'ab'.repeat(20)}`, /; addresses .* in single quotes: '0x/],
    ['SELECT * FROM generate_series(1, 10)', /; WITH RECURSIVE/],
    ['SELECT 1 FROM dual', /; SELECT needs no FROM/],
    ['SELECT * FROM transactions', /; the index has transfers/],
    ['SELECT * FROM readable_transfers', /; named_transfers and/],
    ['SHOW TABLES', LISTS],
    ['DESCRIBE transfers', LISTS],
    ['.tables', LISTS],
    ['\\d transfers', LISTS],
    ['SELECT * FROM information_schema.tables', LISTS],
    ['SELECT * FROM sqlite_master', LISTS],
    ['SELECT * FROM atlas.transfers', /without a schema: transfers, /],
    ['SELECT * FROM main.transfers', /without "main\."/],
    ['EXPLAIN ANALYZE SELECT 1', /; EXPLAIN QUERY PLAN/],
    ['FROM transfers', /; SELECT \* FROM name/],
    ['SELECT median_of(1)', /; besides those of SQLite .* \.functions/],
  ] as const)
    assert.match(messageOf(query), hint, query);
  assert.doesNotMatch(messageOf('DELETE FROM transfers'), /;/);
  assert.doesNotMatch(messageOf("SELECT 'a ILIKE b' FROM -- interval '1 day'\n"), /;/, 'texts and comments');
});
