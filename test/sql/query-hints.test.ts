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

test('the words of other databases are answered with those that work here', () => {
  for (const [query, hint] of [
    ["SELECT date_trunc('day', timestamp) FROM blocks", /; date\(x\) is the day/],
    ['SELECT now()', /; datetime\('now'\)/],
    ["SELECT to_char(timestamp, 'YYYY') FROM blocks", /; strftime/],
    ['SELECT median_of(1)', /; besides those of SQLite .* \.functions/],
    [
      "SELECT * FROM blocks WHERE timestamp > datetime('now') - interval '7 days'",
      /; datetime\(x, '-7 days'\)/,
    ],
    ["SELECT * FROM tokens WHERE symbol ILIKE 'demo'", /; LIKE takes/],
    ['SELECT amount::real FROM transfers', /./],
    ['SHOW TABLES', /atlas-node sql \.schema/],
    ['DESCRIBE transfers', /atlas-node sql \.schema/],
    ['SELECT * FROM information_schema.tables', /without a schema: transfers, /],
    ['SELECT * FROM atlas.transfers', /without a schema: transfers, /],
  ] as const)
    assert.match(messageOf(query), hint, query);
  assert.doesNotMatch(messageOf('DELETE FROM transfers'), /\.schema/);
});
