/** Exports of an index that a repair has rewritten. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FatalError } from '../../src/lib/errors.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';
import { BLOCKS, createIndex, LAST, manifestOf, START, setFinalized, setUp } from './exporting.ts';

const RIGHT = randomBlocks(START, BLOCKS, `0x${'0'.repeat(64)}`, 1);

/** The block with a transaction less in the index before its repair. */
const WRONG = 150;

/** An index with a wrong block. */
function wrongIndex(t: TestContext): string {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(143, START);
  const wrong = RIGHT.map((block) =>
    block.number === WRONG ? { ...block, transactions: block.transactions.slice(1) } : block,
  );
  writer.append([toBatch(wrong)]);
  writer.close();
  setFinalized(path, LAST);
  return path;
}

function repair(path: string): void {
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.rollbackStep(WRONG - 1, { number: null });
  writer.append([toBatch(RIGHT.filter(({ number }) => number >= WRONG))]);
  writer.close();
}

/** Name and content of each file of an export. */
function contents(out: string): string[] {
  return manifestOf(join(out, 'transfers')).files.map(({ name, sha256 }) => `${name} ${sha256}`);
}

for (const isOld of [false, true]) {
  test(`files with rewritten blocks are written again${isOld ? ', also those of 0.1.0' : ''}`, async (t) => {
    const path = wrongIndex(t);
    const { out, run, files } = setUp(t, LAST, { index: path });
    await run({ to: LAST });
    const manifest = join(out, 'transfers', 'manifest.json');
    if (isOld) writeFileSync(manifest, readFileSync(manifest, 'utf8').replaceAll(/,\s*"mark": "0"/g, ''));
    assert.equal(/"mark"/.test(readFileSync(manifest, 'utf8')), !isOld);
    repair(path);
    const isEarly = (error: unknown) =>
      error instanceof FatalError && /repaired, and blocks 100 to 306 .* are not final/.test(error.message);
    await assert.rejects(run({}), isEarly);
    setFinalized(path, LAST);
    files.splice(0);
    await run({ from: 300 }); // the others are not asked for, but wrong
    assert.deepEqual(
      files.map((file) => basename(file)),
      [
        'transfers-0000000100-0000000199.parquet',
        'transfers-0000000200-0000000299.parquet',
        'transfers-0000000300-open.parquet',
      ],
    );
    const fresh = setUp(t, LAST, { index: createIndex(t, LAST) });
    await fresh.run({ to: LAST });
    assert.deepEqual(contents(out), contents(fresh.out));
    files.splice(0);
    await run({ to: LAST });
    assert.deepEqual(files, [], 'once');
  });
}

test('an export that follows notices a repair between two files', async (t) => {
  const path = wrongIndex(t);
  const { out, run, files } = setUp(t, LAST, { index: path });
  const stop = new AbortController();
  const following = run({ follow: true }, stop.signal);
  const isWritten = (count: number) =>
    waitFor(() => files.length === count, { what: `${count} files`, everyMs: 20 });
  await isWritten(3);
  repair(path);
  setFinalized(path, LAST);
  await isWritten(5);
  stop.abort();
  await following;
  const fresh = setUp(t, LAST, { index: createIndex(t, LAST) });
  await fresh.run({});
  assert.deepEqual(contents(out), contents(fresh.out));
});
