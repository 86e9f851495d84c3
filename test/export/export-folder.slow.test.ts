/** A query reads every file of an exported table: no row may be there twice, whatever ran before or was killed. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { exportTable } from '../../src/export/export.ts';
import { FinalBlocks } from '../../src/store/final-blocks.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { PINNED_NODE, PROGRAM, run as runCommand, start } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';
import {
  createIndex,
  dataFiles,
  LAST,
  manifestOf,
  rowsIn,
  START,
  setFinalized,
  setUp,
  transfersTo,
} from './exporting.ts';

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

test('a range outside the index, and an index without a final block, are named with the head', async (t) => {
  const { run } = setUp(t, 50);
  await assert.rejects(run({ to: LAST + 1 }), {
    name: 'ConfigError',
    message: `block ${LAST + 1} is not final yet: it is not even indexed, the index is at block ${LAST}`,
  });
  await assert.rejects(run({ from: 30, to: 20 }), /--from 30 is after --to 20/);
  const db = openIndexForReading(createIndex(t, START));
  t.after(() => db.close());
  assert.match(
    new FinalBlocks(db, 400).explain(),
    /is at block 306, and the daemon found it final up to block \d+$/,
  );
  const young = createIndex(t, START);
  const writable = openDatabase(young);
  writable.exec('UPDATE chain_anchors SET finalized = NULL');
  writable.close();
  await assert.rejects(
    setUpOf(t, young).run({ maxReorg: 400 }),
    /no indexed block is final yet: the index is at block 306, .* counts as final once 400 blocks are above it/,
  );
});

function setUpOf(t: TestContext, index: string) {
  const db = openIndexForReading(index);
  t.after(() => db.close());
  const events = { onProgress: () => undefined, onFile: () => undefined };
  const options = {
    table: 'blocks',
    format: 'csv',
    out: tempDir(t),
    blocksPerFile: 100,
    follow: false,
    tradeLists: {},
  } as const;
  const run = (more: { maxReorg: number }) =>
    exportTable(db, { ...options, ...more }, events, new AbortController().signal);
  return { run };
}

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
    'blocks 7 to 199 are there; blocks 200 to 299 follow once all are final; the last final block is 250 ' +
      '("--to 250" writes those up to it)',
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
  const command = [PINNED_NODE, PROGRAM, 'export', 'transfers', '--out', out];
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
