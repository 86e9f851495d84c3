/** Exports killed before each change of their folder. */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { PINNED_NODE, PROGRAM, run as runCommand } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';
import { createIndex, dataFiles, LAST, manifestOf, rowsIn, setUp, transfersTo } from './exporting.ts';

const KILLER = resolve(import.meta.dirname, '../support/export/kill-at-step.cjs');

/** Exports in its own process, killed before each change of the folder in turn, until one run completes. */
async function killAtEachStep(
  t: TestContext,
  { out, index, args }: { out: string; index: string; args: string[] },
  check: (out: string, step: number) => Promise<void>,
): Promise<number> {
  for (let step = 1; ; step++) {
    const copy = join(tempDir(t), 'out');
    cpSync(out, copy, { recursive: true });
    const command = [PINNED_NODE, '--require', KILLER, PROGRAM, 'export', ...args, '--out', copy];
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
