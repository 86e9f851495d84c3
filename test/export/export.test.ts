/** Exported files, read by DuckDB and compared with the API. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TRANSFER_KIND_NAMES } from '../../src/model/transfer-kind.ts';
import { amountOf, prepareTransfersById, tokenIdOf } from '../../src/query/transfers.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { waitFor } from '../support/wait.ts';
import { BLOCKS, createIndex, duck, manifestOf, START, setFinalized, setUp } from './exporting.ts';

for (const format of ['parquet', 'csv'] as const) {
  test(`every transfer in ${format} files equals the API's`, async (t) => {
    const { db, out, run } = setUp(t, START + BLOCKS - 1);
    await run({ format, to: START + BLOCKS - 1 });
    const from =
      format === 'parquet'
        ? `read_parquet('${out}/transfers/*.parquet')`
        : `read_csv('${out}/transfers/*.csv', all_varchar = true)`;
    const rows = await duck(`SELECT * REPLACE (epoch_ms(block_timestamp::TIMESTAMPTZ) AS block_timestamp)
      FROM ${from} ORDER BY id::BIGINT`);
    const count = db.prepare<[], number>('SELECT count(*) FROM transfers').pluck().get() ?? 0;
    assert.ok(count > 1_000);
    assert.equal(rows.length, count);
    const stored = prepareTransfersById(db)(rows.map((row) => Number(row.id)));
    const text = (value: unknown) => (value === null ? null : String(value));
    assert.deepEqual(
      rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, text(value)]))),
      stored.map((row) => ({
        block_number: String(row.blockNumber),
        block_timestamp: String(row.timestamp * 1000),
        tx_hash: `0x${row.txHash}`,
        event_index: String(row.eventIndex),
        log_index: text(row.logIndex),
        transfer_type: TRANSFER_KIND_NAMES[row.kind],
        from_address: `0x${row.from}`,
        to_address: `0x${row.to}`,
        token_address: row.token === '' ? null : `0x${row.token}`,
        token_id: tokenIdOf(row),
        amount: String(amountOf(row)),
        id: String(row.id),
      })),
    );
  });
}

test('blocks, tokens, wallets and holders add up to the index', async (t) => {
  const { db, out, run } = setUp(t, START + BLOCKS - 1);
  for (const table of ['blocks', 'tokens', 'wallets', 'holders'] as const)
    await run({ table, to: START + BLOCKS - 1 });
  const one = async (sql: string) => Object.values((await duck(sql))[0] ?? {}).map(Number);
  const stored = (sql: string) => db.prepare<[], number[]>(sql).raw().get();
  assert.deepEqual(
    await one(`SELECT count(*), sum(transfers), min(number), max(number) FROM '${out}/blocks/*.parquet'`),
    stored('SELECT count(*), (SELECT count(*) FROM transfers), min(number), max(number) FROM blocks'),
  );
  assert.deepEqual(
    await one(`SELECT count(*), sum(transfers), sum(holders) FROM '${out}/tokens/*.parquet'`),
    stored('SELECT count(*), sum(transfers), sum(holders) FROM tokens'),
  );
  assert.deepEqual(
    await one(
      `SELECT count(*), sum(transfers), sum(tokens), count(first_funder) FROM '${out}/wallets/*.parquet'`,
    ),
    stored('SELECT count(*), sum(transfers), sum(tokens), count(funder) FROM wallets WHERE transfers > 0'),
  );
  const holders = await duck(
    `SELECT token_address, count(*)::INT AS holders FROM '${out}/holders/*.parquet'
     WHERE holder_address <> '0x${'0'.repeat(40)}' GROUP BY 1 ORDER BY 1`,
  );
  assert.deepEqual(
    holders,
    db
      .prepare(
        `SELECT '0x' || lower(hex(address)) AS token_address, holders FROM tokens JOIN wallets w ON w.id = wallet
         WHERE holders > 0 ORDER BY 1`,
      )
      .all(),
  );
});

test('a file holds whole ranges of final blocks, and the same range yields the same bytes', async (t) => {
  const { out, files, run, db } = setUp(t, 150);
  assert.equal(await run({}), 1, 'blocks 100 to 199 are not all final');
  assert.deepEqual(readdirSync(join(out, 'transfers')), [
    'manifest.json',
    'transfers-0000000007-0000000099.parquet',
  ]);
  await assert.rejects(
    run({ to: 151 }),
    /block 151 is not final yet: the last final block of the index is 150/,
  );
  await assert.rejects(run({ from: 3 }), /--from 3 is before the index, which starts at 7/);
  setFinalized(db.name, 250);
  assert.equal(await run({}), 2);
  assert.equal(files.length, 2, 'the first file is left alone');
  const folder = join(out, 'transfers');
  const [first] = manifestOf(folder).files;
  const bytes = readFileSync(join(folder, first?.name ?? ''));
  assert.equal(createHash('sha256').update(bytes).digest('hex'), first?.sha256);
  rmSync(join(folder, first?.name ?? ''));
  await run({});
  assert.deepEqual(readFileSync(join(folder, first?.name ?? '')), bytes, 'a missing file is written again');
  await assert.rejects(
    run({ format: 'csv' }),
    /has format "parquet", this export "csv"; name another folder/,
  );
});

test('a stopped export leaves only complete files, and the next one continues after them', async (t) => {
  const { out, run } = setUp(t, START + BLOCKS - 1);
  const folder = join(out, 'transfers');
  const stop = new AbortController();
  stop.abort();
  await assert.rejects(run({}, stop.signal), /stopped; complete files are kept/);
  assert.deepEqual(readdirSync(folder), []);
  writeFileSync(join(folder, 'transfers-0000000007-0000000099.parquet.partial'), 'left by a kill');
  assert.equal(await run({}), 3);
  assert.equal(manifestOf(folder).files.length, 3);
  assert.equal(readdirSync(folder).filter((name) => name.endsWith('.partial')).length, 0);
});

test('following writes a file once its last block is final, until it is stopped', async (t) => {
  const { db, files, run } = setUp(t, 120);
  const stop = new AbortController();
  const following = run({ follow: true }, stop.signal);
  const seen = (count: number) => waitFor(() => files.length >= count, { what: `${count} files` });
  await seen(1);
  setFinalized(db.name, 220);
  await seen(2);
  stop.abort();
  assert.equal(await following, 2);
});

test('the documented queries run in DuckDB, and read amounts from CSV to the last digit', async (t) => {
  const { db, out, run } = setUp(t, START + BLOCKS - 1);
  for (const table of ['transfers', 'tokens'] as const) await run({ table });
  const csv = `${out}-csv`;
  t.after(() => rmSync(csv, { recursive: true, force: true }));
  for (const table of ['transfers', 'holders'] as const)
    await run({ table, format: 'csv', out: csv, to: START + BLOCKS - 1 });
  const text = readFileSync(new URL('../../docs/analytics.md', import.meta.url), 'utf8');
  const section = text.slice(text.indexOf('## DuckDB'), text.indexOf('## ClickHouse'));
  const statements = [...section.matchAll(/```sql\n([^`]*)```/g)]
    .flatMap(([, block = '']) => block.split(';\n'))
    .filter((sql) => sql.trim());
  const results: Record<string, unknown>[][] = [];
  for (const sql of statements) results.push(await duck(sql.replaceAll('/data/atlas', out)));
  assert.equal(results.length, 4);
  for (const rows of results) assert.ok(rows.length > 0);
  const largest = db
    .prepare<[], { amount: Buffer }>(
      'SELECT amount FROM transfers WHERE kind <> 3 ORDER BY length(amount) DESC, amount DESC',
    )
    .get();
  assert.equal(results[2]?.[0]?.amount, BigInt(`0x${largest?.amount.toString('hex')}`).toString());
});

test('a token name that looks like a formula is text in CSV', async (t) => {
  const index = createIndex(t, START + BLOCKS - 1);
  const writer = openDatabase(index);
  writer.exec(`INSERT INTO token_metadata (address, symbol, name, decimals, tries, checksum)
    SELECT address, '\uFF1D1+1', '=cmd("x"),y', 18, 1, 0 FROM wallets JOIN tokens t ON t.wallet = wallets.id`);
  writer.close();
  const { out, run } = setUp(t, START + BLOCKS - 1, { index });
  await run({ table: 'tokens', format: 'csv' });
  const rows = await duck(`SELECT DISTINCT name, symbol FROM read_csv('${out}/tokens/*.csv')`);
  assert.deepEqual(rows, [{ name: `'=cmd("x"),y`, symbol: "'\uFF1D1+1" }]);
});
