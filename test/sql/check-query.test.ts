/** What a query that is to be named is told without an index. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkQuery } from '../../src/sql/check-query.ts';

const WALLET = 'from_address = :wallet';

test('a query has columns, parameters in the order of their first use, and tables that it reads whole', () => {
  assert.deepEqual(
    checkQuery(
      `SELECT t.id, count(*) c, 'a:b' AS "x y" FROM transfers t JOIN tokens k USING (token_address)
       WHERE ${WALLET} AND amount_real > :least AND ${WALLET} -- :no`,
    ),
    {
      columns: ['id', 'c', 'x y'],
      parameters: ['wallet', 'least'],
      scanned: [],
      notes: [],
      isRepeatable: true,
    },
  );
  assert.deepEqual(checkQuery('SELECT count(*) FROM transfers t, blocks WHERE t.amount > :a;').scanned, [
    'transfers',
    'blocks',
  ]);
  assert.deepEqual(checkQuery('SELECT * FROM blocks ORDER BY number DESC LIMIT 3').scanned, []);
  const ofToken =
    'SELECT count(*), sum_amount(amount) AS total, max(id) FROM transfers WHERE token_address = :token';
  assert.deepEqual(checkQuery(ofToken).columns, ['count(*)', 'total', 'max(id)']);
});

test('what is refused at the prompt is refused here, and parameters of other forms', () => {
  for (const [query, pattern] of [
    ['', /empty/],
    ['DELETE FROM transfers', /only queries are run/],
    ['SELECT 1; SELECT 2', /one statement at a time/],
    ['SELECT * FROM nothing', /there is no table "nothing"/],
    ['SELECT missing FROM blocks', /no such column: missing/],
    ['SELECT missing(1)', /no such function: missing/],
    ['SELECT * FROM sqlite_schema', /not available/],
    ['WITH x AS (SELECT 1) DELETE FROM x', /./],
    ['SELECT ?', /parameters are written with a colon and a name, as :wallet, not \?/],
    ['SELECT ?1', /not \?1/],
    ['SELECT @a', /not @a/],
    ['SELECT $a', /not \$a/],
    ['SELECT :a::b', /./],
  ] as const)
    assert.throws(() => checkQuery(query), { name: 'QueryRefusal', message: pattern }, query);
});

test('a query that asks for the time or for random numbers is not repeatable', () => {
  const isRepeatable = (expression: string) => checkQuery(`SELECT ${expression}`).isRepeatable;
  for (const expression of [
    'random()',
    'hex(randomblob(4))',
    'CURRENT_TIMESTAMP',
    "datetime('now', '-1 day')",
    "date('NOW')",
    'datetime()',
    "strftime('%s')",
    'unixepoch()',
    "1 WHERE 1 IN (SELECT julianday('now'))",
    'datetime(:when)',
    'date(x) FROM (SELECT :when AS x)',
    "datetime('subsec')",
  ])
    assert.equal(isRepeatable(expression), false, expression);
  for (const expression of ["date('2026-11-21')", "strftime('%Y', '2026-11-21')", "'noweverything'", ':a'])
    assert.equal(isRepeatable(expression), true, expression);
});
