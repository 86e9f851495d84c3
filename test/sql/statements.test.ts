/** Which statements are run. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { QueryRefusal } from '../../src/sql/query-refusal.ts';
import { SqlSession } from '../../src/sql/session.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { tempDir } from '../support/temp-dir.ts';

describe('a statement', () => {
  const cleanup = suiteCleanup();
  const fixture = createIndex(cleanup, 1);
  fixture.append([{ one: [{ from: 'a', to: 'b', amount: 5n }] }]);
  const session = new SqlSession(fixture.path);
  cleanup.after(() => session.close());
  const folder = tempDir(cleanup);

  const run = (query: string) => session.run(query, { rows: 100, bytes: 1 << 20 });
  const refused = (query: string, reason: RegExp = /./) => {
    const before = readFileSync(fixture.path);
    assert.throws(
      () => run(query),
      (error) => {
        assert.ok(error instanceof QueryRefusal, `${query.slice(0, 80)}: ${error}`);
        assert.doesNotMatch(error.message, /\n/);
        assert.ok(error.message.length < 500, error.message);
        assert.match(error.message, reason);
        return true;
      },
      query.slice(0, 80),
    );
    assert.ok(before.equals(readFileSync(fixture.path)), 'the file is as before');
  };

  test('that writes, or changes the connection, is refused, also behind comments', () => {
    const statements = [
      `VACUUM INTO '${join(folder, 'copy.db')}'`,
      'VACUUM',
      `ATTACH '${join(folder, 'other.db')}' AS other`,
      'DETACH main',
      'PRAGMA query_only=0',
      'PRAGMA table_list',
      'BEGIN IMMEDIATE',
      'COMMIT',
      'SAVEPOINT a',
      'REINDEX',
      'ANALYZE',
      'CREATE TABLE x (a)',
      'CREATE TEMP TABLE x (a)',
      'CREATE VIRTUAL TABLE x USING fts5(a)',
      'DROP TABLE transfers',
      'INSERT INTO transfers VALUES (1)',
      'INSERT INTO blocks (number) VALUES (1) RETURNING number',
      'UPDATE wallets SET address = 1',
      'DELETE FROM transfers',
      'DELETE FROM transfers RETURNING *',
      'REPLACE INTO transfers VALUES (1)',
      'WITH x AS (SELECT 1) DELETE FROM transfers',
      'WITH x AS (SELECT 1) INSERT INTO transfers SELECT * FROM x RETURNING 1',
      'WITH x AS (SELECT 1) UPDATE transfers SET id = 1',
      'EXPLAIN DELETE FROM transfers',
      `EXPLAIN ATTACH '${join(folder, 'other.db')}' AS other`,
      'EXPLAIN QUERY PLAN VACUUM',
      'EXPLAIN PRAGMA query_only',
      '',
      ';',
    ];
    const fronts = ['', '-- a comment\n', '/* SELECT 1 */ ', '/**/--\n/* ; */\t', '\n\n  ', ';'];
    for (const statement of statements) for (const front of fronts) refused(front + statement);
    for (const name of ['copy.db', 'other.db']) assert.ok(!existsSync(join(folder, name)), name);
  });

  test('is one alone', () => {
    refused('SELECT 1; SELECT 2', /one statement/);
    refused('SELECT 1; DELETE FROM transfers', /one statement/);
    refused('SELECT 1;; -- a comment\n VACUUM', /one statement/);
    assert.deepEqual(run("SELECT ';' AS a; -- the end\n ;").rows, [[';']]);
    assert.deepEqual(run('/* first */ SELECT 1 -- last').rows, [[1]]);
    assert.deepEqual(run('\ufeffSELECT 1 \r\n-- last').rows, [[1]], 'as some editors save it');
  });

  test('may have an address as PostgreSQL writes it', () => {
    assert.deepEqual(run(`SELECT '\\x${'aB'.repeat(20)}', '\\xab'`).rows, [
      [`0x${'ab'.repeat(20)}`, '\\xab'],
    ]);
  });

  test('may have an address as a blob, where it is compared', () => {
    const [[from] = []] = run('SELECT from_address FROM transfers').rows;
    const blob = `x'${String(from).slice(2)}'`;
    for (const condition of [
      `from_address = ${blob}`,
      `${blob} == from_address`,
      `from_address IN (1, ${blob})`,
    ])
      assert.deepEqual(run(`SELECT count(*) FROM transfers WHERE ${condition}`).rows, [[1]], condition);
    assert.deepEqual(run(`SELECT length(${blob}), address(${blob}) = ${blob}`).rows, [[20, 1]]);
  });

  test('may have numbers as text, where a column has numbers', () => {
    const conditions = [
      "block_number = '1'",
      "t.block_number IN ('1', ' 2 ')",
      "block_number BETWEEN'1'AND'10'",
      "'+1' <= block_number AND (log_index IS NULL OR log_index = '7')",
      "amount_real > '4.5'",
      "amount = '5'",
      "(block_number > '7' OR block_number < '2')",
    ];
    for (const condition of conditions)
      assert.deepEqual(run(`SELECT count(*) FROM transfers t WHERE ${condition}`).rows, [[1]], condition);
    const joined =
      "SELECT count(*) FROM blocks b JOIN transfers t ON t.block_number = '1' AND b.number = '1'";
    assert.deepEqual(run(joined).rows, [[1]]);
    assert.deepEqual(run("SELECT count(*) FROM transfers WHERE block_number = '1x'").rows, [[0]]);
  });

  test('with a space or a quote of a web page or a document is told so', () => {
    refused('\u00a0SELECT 1', /looks like a space \(U\+00A0\): type a space/);
    refused('SELECT\u200bnumber FROM blocks', /looks like a space \(U\+200B\)/);
    refused(
      'SELECT number FROM blocks WHERE hash = \u2018abc\u2019',
      /looks like a quote \(U\+2018\): type '/,
    );
    refused('SELECT number FROM \u201cblocks\u201d', /looks like a quote \(U\+201C\)/);
    const rows = run("SELECT '\u00a0' AS nombre_d\u2019adresses, 1 AS \u0646\u0645\u06cc\u200c\u062f").rows;
    assert.deepEqual(rows, [['\u00a0', 1]], 'in a text, and as a letter');
    refused(`S\0E\0L\0E\0C\0T\0`, /save its file as UTF-8/);
  });

  test('reads nothing but the tables that are documented', () => {
    for (const table of [
      'activity',
      'holdings',
      'addresses',
      'counterparty_sums',
      'index_rules',
      'nothing',
    ]) {
      refused(`SELECT * FROM ${table}`, /there is no table/);
      refused(`SELECT * FROM "${table}"`, /there is no table/);
      refused(`SELECT 1 WHERE EXISTS (SELECT * FROM [${table}])`, /there is no table/);
      refused(`SELECT * FROM blocks JOIN \`${table}\` ON 1`, /there is no table/);
    }
    for (const name of [
      'pragma_table_list',
      'pragma_database_list()',
      '"pragma_table_info"(1)',
      'sqlite_schema',
      '[sqlite_master]',
      'sqlite_temp_schema',
      'dbstat',
      'DBSTAT',
      '`sqlite_dbpage`',
      'fts5vocab',
      'bytecode',
    ])
      refused(`SELECT * FROM ${name}`, /is not available/);
    for (const name of [
      'main.transfers',
      '"main"."transfers"',
      'temp.x',
      '[MAIN] . wallets',
      'main./**/sqlite_schema',
    ])
      refused(`SELECT * FROM ${name}`);
    // What is space, or hides text, for SQLite alone would hide a name from the list.
    for (const hidden of ['\ufeffload_extension', '\ufeff\ufeffreadfile', '\t\ufeff"writefile"'])
      refused(`SELECT ${hidden}('x')`, /is not available/);
    for (const start of ['$', '@', ':', '#'])
      refused(`SELECT ${start}a('), name FROM pragma_database_list --')`, /syntax error/);
    for (const call of [
      "load_extension('x')",
      "readfile('/etc/passwd')",
      "writefile('x', 1)",
      'sqlite_version()',
    ])
      refused(`SELECT ${call}`, /is not available/);
    for (const name of ['sqlite_schema', 'dbstat', 'pragma_page_count', 'transfers#1', 'activity']) {
      refused(`SELECT * FROM '${name}'`, /there is no table/);
      refused(`SELECT * FROM blocks, '${name}' AS 'x'`, /there is no table/);
      refused(`SELECT 1 FROM blocks WHERE 1 IN '${name}'`, /IN takes/);
    }
    refused('SELECT * FROM transfers NOT INDEXED', /not understood/);
    refused('SELECT * FROM transfers(1)', /takes no arguments/);
    refused('SELECT * FROM "transfers#1"', /there is no table/);
    refused('TABLE transfers');
    refused('SELECT 1 WHERE 1 IN blocks', /IN takes/);
  });

  test('may name its own tables as it likes', () => {
    assert.deepEqual(run('WITH activity AS (SELECT 7 AS n) SELECT n FROM activity').rows, [[7]]);
    assert.deepEqual(run('WITH transfers(a) AS (VALUES (1), (2)) SELECT sum(a) FROM transfers').rows, [[3]]);
    assert.deepEqual(run("SELECT value FROM json_each('[4]')").rows, [[4]]);
    assert.deepEqual(
      run('SELECT main.id FROM (SELECT 3 AS id) AS other, transfers AS t LIMIT 0'.replace('main.id', 't.id'))
        .rows,
      [],
    );
    assert.deepEqual(run('VALUES (1, NULL)').rows, [[1, null]]);
  });

  test('of odd characters or of great depth ends in one line', () => {
    refused('SELECT 1\0; DELETE FROM transfers', /NUL/);
    refused("SELECT 'a", /no closing/);
    refused('SELECT "a', /no closing/);
    refused('SELECT \u00a01');
    refused('ＳＥＬＥＣＴ 1');
    refused('SELECT \u{1f600} FROM transfers');
    refused('SELECT (1', /parenthesis/);
    refused('SELECT 1)', /parenthesis/);
    refused(`SELECT ${'('.repeat(500_000)}1${')'.repeat(499_990)}`, /nests/);
    refused(`SELECT ${'('.repeat(90)}1${')'.repeat(89)}`, /parenthesis/);
    refused(`SELECT 1${' '.repeat(1_000_000)}`, /characters/);
    refused(`SELECT ${'-- \n'.repeat(240_000)}`);
    refused(`SELECT ${Array(30_000).fill('1').join('+')}`, /depth/);
    refused('SELECT :a', /./);
    refused("SELECT abs('x', 2)");
    refused("SELECT json('{')");
    refused('SELECT abs(-9223372036854775808)', /overflow; sum_amount/);
    refused('SELECT least(1.5, 2)', /; min\(a, b\)/);
    refused("SELECT 1 FROM blocks WHERE hash MATCH 'a'", /; x LIKE/);
    refused('SELECT length(zeroblob(2000000000))', /too big/);
    refused(`SELECT ${'a'.repeat(500_000)}`, /no such column/);
    refused('SELECT "a\nb\u202e".c FROM blocks', /no such column/);
    refused(`SELECT * FROM "${'a'.repeat(500_000)}"`, /there is no table/);
    refused(`SELECT 1 FROM ${Array(2_000).fill('blocks').join(', ')}`, /at most 64 tables/);
    refused(`SELECT * FROM blocks WHERE ${Array(3_000).fill('number = 1').join(' OR ')}`, /depth/);
  });

  test('is prepared once and answers again: after an end in the middle, a failure, many others', () => {
    const query = 'SELECT :n + value AS v FROM json_each(:list) JOIN (SELECT max(number) FROM blocks)';
    const ask = (n: bigint, list: string, rows = 10) =>
      session.run(query, { rows, bytes: 1 << 20 }, { n, list }).rows.flat();
    assert.deepEqual(ask(1n, '[1, 2, 3]'), [2, 3, 4]);
    assert.deepEqual(ask(5n, '[1, 2, 3]', 1), [6], 'cut');
    assert.deepEqual(ask(2n, '[1, 2]'), [3, 4]);
    assert.throws(() => ask(1n, '[1, 2'), /malformed JSON/);
    assert.deepEqual(ask(3n, '[]'), []);
    for (let i = 0; i < 30; i++) run(`SELECT ${i}`);
    assert.deepEqual(ask(4n, '[1]'), [5]);
    const long = `SELECT ${'/* */'.repeat(3_000)} 7`;
    assert.deepEqual([run(long).rows, run(long).rows], [[[7]], [[7]]]);
  });

  test('gives integers beyond 2^53 and blobs as text', () => {
    assert.deepEqual(
      run("SELECT 9007199254740993, -9007199254740991, x'00ff', 1.5, 1e300, -1e999, NULL, ''").rows,
      [['9007199254740993', -9007199254740991, '0x00ff', 1.5, 1e300, '-Infinity', null, '']],
    );
  });

  test('is cut at a number of rows and of bytes', () => {
    const many =
      'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 500) SELECT x, hex(zeroblob(1000)) FROM c';
    const rows = session.run(many, { rows: 10, bytes: 1 << 20 });
    assert.deepEqual([rows.rows.length, rows.cut], [10, 'rows']);
    const bytes = session.run(many, { rows: 1000, bytes: 50_000 });
    assert.equal(bytes.cut, 'bytes');
    assert.ok(bytes.rows.length > 10 && bytes.rows.length < 30);
    assert.equal(session.run(many, { rows: 500, bytes: 1 << 22 }).cut, null);
    const blob = session.run('SELECT zeroblob(300000000)', { rows: 1, bytes: 50_000 });
    assert.deepEqual([blob.rows, blob.cut], [[], 'bytes'], 'its digits would be no valid text');
  });

  test('can use exact functions of amounts', () => {
    const one = (expression: string) => run(`SELECT ${expression}`).rows[0]?.[0];
    const big = '115792089237316195423570985008687907853269984665640564039457584007913129639935';
    assert.equal(one(`units('1500000000000000000', 18)`), '1.5');
    assert.equal(one(`units('-1', 18)`), '-0.000000000000000001');
    assert.equal(one(`units('100', 0)`), '100');
    assert.equal(one('units(100, 2)'), '1');
    assert.equal(one('units(NULL, 2)'), null);
    assert.equal(one(`plus('${big}', 1)`), (BigInt(big) + 1n).toString());
    assert.equal(one(`minus(1, '${big}')`), (1n - BigInt(big)).toString());
    assert.equal(one(`mul_div('${big}', '${big}', '${big}')`), big);
    assert.equal(one('mul_div(7, 3, 2)'), '10');
    assert.equal(one('mul_div(7, 3, 0)'), null);
    assert.equal(one("least('9', '10')"), '9');
    assert.equal(one("greatest('9', '10')"), '10');
    assert.equal(one("least(3, '-10', 5)"), '-10');
    assert.equal(one('greatest(1, NULL, 2)'), null);
    assert.equal(one(`negate('${big}')`), `-${big}`);
    assert.equal(one(`to_hex('${big}')`), `0x${'f'.repeat(64)}`);
    assert.equal(one(`from_hex('0x${'F'.repeat(64)}')`), big);
    assert.equal(one(`address('0x${'aB'.repeat(20)}')`), `0x${'ab'.repeat(20)}`);
    assert.equal(one(`address('${'AB'.repeat(20)}')`), `0x${'ab'.repeat(20)}`);
    assert.equal(one(`address(x'${'ab'.repeat(20)}')`), `0x${'ab'.repeat(20)}`);
    const values = `(VALUES ('${big}'), ('1'), (NULL), ('-3'), (5))`;
    assert.equal(one(`sum_amount(column1) FROM ${values}`), (BigInt(big) + 3n).toString());
    assert.equal(one('sum_amount(id) FROM transfers WHERE id < 0'), null);
    assert.deepEqual(
      run(`SELECT sum_amount(column1) OVER (ROWS 1 PRECEDING) FROM (VALUES (1), (2), (3))`).rows,
      [['1'], ['3'], ['5']],
    );
    for (const wrong of [
      "units('1.5', 2)",
      "units('1', 256)",
      "address('0x12')",
      "from_hex('ff')",
      'to_hex(-1)',
      "sum_amount('x')",
      'negate(1.5)',
      'least()',
    ])
      refused(`SELECT ${wrong}`);
  });
});
