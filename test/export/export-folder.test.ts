/** A query reads every file of an exported table: no row may be there twice, whatever ran before or was killed. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { TableName } from '../../src/export/export.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import type { Db } from '../../src/store/open-database.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { run as runCommand, SOURCE_FLAGS, start } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';
import { BLOCKS, createIndex, duck, manifestOf, START, setFinalized, setUp } from './exporting.ts';

const LAST = START + BLOCKS - 1;
const CLI = resolve(import.meta.dirname, '../../src/cli.ts');
const KILLER = resolve(import.meta.dirname, '../support/export/kill-at-step.cjs');

/** Rows and distinct rows that a query over all files of a table sees. */
async function rowsIn(out: string, table: TableName): Promise<[rows: number, distinct: number]> {
  const [row] = await duck(
    `SELECT (SELECT count(*) FROM '${out}/${table}/*.parquet')::INT AS n,
       (SELECT count(*) FROM (SELECT DISTINCT * FROM '${out}/${table}/*.parquet'))::INT AS one`,
  );
  return [Number(row?.n), Number(row?.one)];
}

/** Transfers of the index up to a block. */
function transfersTo(db: Db, block: number): number {
  return (
    db.prepare<[number], number>('SELECT last_transfer FROM blocks WHERE number = ?').pluck().get(block) ?? 0
  );
}

function dataFiles(out: string, table: TableName): string[] {
  return readdirSync(join(out, table)).filter((name) => name !== 'manifest.json');
}

test('a later snapshot replaces the earlier one', async (t) => {
  const index = createIndex(t, 150, 1, 200);
  const { db, out, run } = setUp(t, 150, { index });
  const tables = ['tokens', 'wallets', 'holders'] as const;
  for (const table of tables) await run({ table });
  const writer = new IndexWriter(index, { cacheMb: 8 });
  const tip = db.prepare<[], Buffer>('SELECT hash FROM blocks WHERE number = 200').pluck().get();
  writer.append([toBatch(randomBlocks(201, 50, `0x${tip?.toString('hex')}`, 1))]);
  writer.close();
  for (const table of tables) {
    assert.equal(await run({ table }), 1);
    assert.deepEqual(dataFiles(out, table), [`${table}.parquet`]);
    const [rows, distinct] = await rowsIn(out, table);
    assert.equal(rows, distinct, table);
    assert.deepEqual(
      manifestOf(join(out, table)).files.map(({ last, final }) => [last, final.number]),
      [[250, 150]],
    );
  }
});

test('ranges keep their borders, and an open end gives way to the whole range', async (t) => {
  const { db, out, run } = setUp(t, LAST);
  const whole = ['transfers-0000000007-0000000099.parquet', 'transfers-0000000100-0000000199.parquet'];
  await run({ to: 150 });
  assert.deepEqual(dataFiles(out, 'transfers'), [whole[0], 'transfers-0000000100-open.parquet']);
  await run({ to: 120 });
  assert.deepEqual(await rowsIn(out, 'transfers'), Array(2).fill(transfersTo(db, 150)), 'never shorter');
  await run({ to: 170 });
  assert.deepEqual(await rowsIn(out, 'transfers'), Array(2).fill(transfersTo(db, 170)));
  assert.equal(manifestOf(join(out, 'transfers')).files[1]?.last, 170);
  await run({ from: 260, to: 280 });
  assert.deepEqual(dataFiles(out, 'transfers').at(-1), 'transfers-0000000200-open.parquet');
  assert.equal(await run({}), 4 - 1, 'the open end of an incomplete range stays');
  assert.deepEqual(dataFiles(out, 'transfers'), [...whole, 'transfers-0000000200-0000000299.parquet']);
  await run({ to: LAST });
  await run({ to: 250 });
  assert.deepEqual(await rowsIn(out, 'transfers'), Array(2).fill(transfersTo(db, LAST)));
  await assert.rejects(
    run({ blocksPerFile: 50 }),
    /blocksPerFile 100, this export 50; use --blocks-per-file 100/,
  );
});

test('an export that writes nothing says why', async (t) => {
  const { db, idle, run } = setUp(t, 50);
  await run({});
  setFinalized(db.name, 250);
  await run({ from: 270 });
  await run({});
  await run({});
  await run({ to: 150 });
  await run({ to: 150 });
  assert.deepEqual(idle, [
    'blocks 7 to 99 follow once all are final; the last final block is 50 ("--to 50" writes those up to it)',
    'blocks 200 to 299 follow once all are final; the last final block is 250 ("--to 250" writes those up to it)',
    'blocks 7 to 199 are there; blocks 200 to 299 follow once all are final; the last final block is 250 ("--to 250" writes those up to it)',
    'blocks 7 to 150 are there',
    'blocks 7 to 150 are there',
  ]);
});

test('another chain with the same id and first block is refused', async (t) => {
  const { out, run } = setUp(t, LAST);
  await run({});
  await run({ table: 'tokens' });
  const [ranges, snapshot] = [await rowsIn(out, 'transfers'), await rowsIn(out, 'tokens')];
  const other = setUp(t, LAST, { index: createIndex(t, LAST, 2), out });
  for (const table of ['transfers', 'tokens'] as const)
    await assert.rejects(other.run({ table }), /block 7 is 0x.* in the index and 0x.*another chain.*--out/);
  const shorter = setUp(t, 50, { index: createIndex(t, 50, 1, 60), out });
  for (const table of ['transfers', 'tokens'] as const)
    await assert.rejects(shorter.run({ table }), /include block \d+, which the index does not have yet/);
  const manifest = manifestOf(join(out, 'transfers'));
  for (const file of manifest.files.slice(1)) file.final.hash = `0x${'1'.repeat(64)}`;
  writeFileSync(join(out, 'transfers', 'manifest.json'), JSON.stringify(manifest));
  await assert.rejects(run({}), /block 199 is .* since replaced; name another folder/);
  assert.deepEqual([await rowsIn(out, 'transfers'), await rowsIn(out, 'tokens')], [ranges, snapshot]);
});

test('a second export of the same folder is refused, and a killed one leaves no lock', async (t) => {
  const { db, out, run } = setUp(t, LAST);
  const [first, second] = await Promise.allSettled([run({}), run({})]);
  assert.equal(first.status, 'fulfilled');
  assert.match(
    String(second.status === 'rejected' && second.reason),
    /another atlas-node is writing .*--out/,
  );
  assert.equal(await run({ table: 'blocks' }), 3, 'another table has its own folder');
  const command = [process.execPath, ...SOURCE_FLAGS, CLI, 'export', 'transfers', '--out', out];
  const args = ['--data-dir', dirname(db.name), '--blocks-per-file', '100'];
  const holding = start(t, [...command, ...args, '--follow'], { cwd: out });
  await waitFor(() => holding.stdout().includes('waiting: '), { what: 'the export that follows' });
  const refused = await runCommand(t, [...command, ...args], { cwd: out });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^atlas-node: another atlas-node is writing .*wait for its end.*\n$/);
  holding.child.kill('SIGKILL');
  await holding.ended;
  const next = await runCommand(t, [...command, ...args], { cwd: out });
  assert.match(next.stdout, /^nothing new to export, 3 files in all: blocks 7 to 299 are there;/);
  assert.deepEqual([next.code, existsSync(join(out, 'transfers', 'manifest.json.lock'))], [0, false]);
});

test('a folder with files of unknown origin, a damaged manifest or one of an older version is refused', async (t) => {
  const { out, run } = setUp(t, LAST);
  await run({});
  const folder = join(out, 'transfers');
  const path = join(folder, 'manifest.json');
  const manifest = readFileSync(path, 'utf8');
  cpSync(join(folder, 'transfers-0000000007-0000000099.parquet'), join(folder, 'copy.parquet'));
  await assert.rejects(run({}), /copy\.parquet is not listed in manifest\.json.*move it away/);
  rmSync(join(folder, 'copy.parquet'));
  for (const [text, reason] of [
    [manifest.slice(0, 100), /manifest\.json is damaged .*restore it/],
    [manifest.replaceAll('transfers-', '../transfers-'), /manifest\.json is damaged/],
    [manifest.replace('"schemaVersion": 2', '"schemaVersion": 1'), /of version 1.*remove that folder/],
  ] as const) {
    writeFileSync(path, text);
    await assert.rejects(run({}), reason);
  }
  rmSync(path);
  await assert.rejects(run({}), /is not listed in manifest\.json/);
  writeFileSync(path, manifest);
  truncateSync(join(folder, 'transfers-0000000100-0000000199.parquet'), 10);
  assert.equal(await run({}), 3, 'a file of the wrong size is written again');
  assert.equal(await run({ table: 'blocks', out: join(out, 'a', 'b') }), 3, 'folders are made');
  writeFileSync(join(out, 'file'), '');
  await assert.rejects(run({ out: join(out, 'file') }), /cannot write to .*not a folder/);
});

/** Exports in its own process, killed before each change of the folder in turn, until one run completes. */
async function killAtEachStep(
  t: TestContext,
  { out, index, args }: { out: string; index: string; args: string[] },
  check: (out: string, step: number) => Promise<void>,
): Promise<number> {
  for (let step = 1; ; step++) {
    const copy = join(tempDir(t), 'out');
    cpSync(out, copy, { recursive: true });
    const flags = [...SOURCE_FLAGS, '--require', KILLER];
    const command = [process.execPath, ...flags, CLI, 'export', ...args, '--out', copy];
    const { code, signal, stderr } = await runCommand(t, [...command, '--data-dir', dirname(index)], {
      cwd: copy,
      env: { KILL_AT_STEP: String(step), KILL_FOLDER: copy },
    });
    assert.ok(code === 0 || signal === 'SIGKILL', stderr);
    await check(copy, step);
    if (code === 0) return step - 1;
  }
}

test('an export killed at any step leaves each transfer at most once, and the next one completes it', async (t) => {
  const { db, out, run } = setUp(t, LAST);
  await run({ to: 250 });
  const args = ['transfers', '--blocks-per-file', '100'];
  const steps = await killAtEachStep(t, { out, index: db.name, args }, async (copy, step) => {
    const [rows, distinct] = await rowsIn(copy, 'transfers');
    assert.equal(rows, distinct, `killed before step ${step}`);
    assert.ok(
      [250, 299].some((block) => transfersTo(db, block) === rows),
      `killed before step ${step}`,
    );
    const again = setUp(t, LAST, { index: db.name, out: copy });
    assert.equal(await again.run({ to: 220 }), 3, `after the kill before step ${step}`);
    assert.equal(await again.run({}), 3);
    assert.deepEqual(await rowsIn(copy, 'transfers'), Array(2).fill(transfersTo(db, 299)));
    const { files, pending } = manifestOf(join(copy, 'transfers'));
    assert.deepEqual(
      dataFiles(copy, 'transfers'),
      files.map(({ name }) => name),
    );
    assert.equal(pending, undefined);
  });
  assert.ok(steps >= 6, `${steps} steps`);
});

test('a snapshot killed at any step leaves one snapshot, and the next one replaces it', async (t) => {
  const index = createIndex(t, 150);
  const { db, out, run } = setUp(t, 150, { index });
  await run({ table: 'holders' });
  const writer = new IndexWriter(index, { cacheMb: 8 });
  const tip = db.prepare<[], Buffer>('SELECT hash FROM blocks ORDER BY number DESC').pluck().get();
  writer.append([toBatch(randomBlocks(LAST + 1, 50, `0x${tip?.toString('hex')}`, 1))]);
  writer.close();
  const steps = await killAtEachStep(t, { out, index, args: ['holders'] }, async (copy, step) => {
    const [rows, distinct] = await rowsIn(copy, 'holders');
    assert.equal(rows, distinct, `killed before step ${step}`);
    const again = setUp(t, 150, { index, out: copy });
    assert.equal(await again.run({ table: 'holders' }), 1);
    assert.deepEqual(dataFiles(copy, 'holders'), ['holders.parquet']);
    const [file] = manifestOf(join(copy, 'holders')).files;
    assert.equal(file?.last, LAST + 50);
  });
  assert.ok(steps >= 5, `${steps} steps`);
});
