import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { SkippedLogs } from '../../src/model/block-batch.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { SkippedLogTable } from '../../src/store/skipped-logs.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { address, txHash } from '../support/index/index-fixture.ts';
import { tempDir } from '../support/temp-dir.ts';

const BLOCKS = randomBlocks(0, 60, `0x${'00'.repeat(32)}`, 3);

/** Logs of contracts in a block, and their sum as the decoder gives it. */
function skip(block: number, contracts: Record<string, number>): SkippedLogs[] {
  const of = { block, reason: 'transfer_data' as const, txHash: txHash(`${block}`) };
  const sum = Object.values(contracts).reduce((total, logs) => total + logs, 0);
  const each = Object.entries(contracts).map(([name, logs]) => ({ ...of, contract: address(name), logs }));
  return [{ ...of, contract: null, logs: sum }, ...each];
}

/** A payment in a trace of block 8. */
const PAYMENT: SkippedLogs = {
  block: 8,
  reason: 'frame_type',
  contract: null,
  logs: 1,
  txHash: txHash('8'),
};

/** A new file, and a writer on it; `open` opens it once more. */
function newIndex(t: TestContext) {
  const path = join(tempDir(t), 'index.db');
  const open = () => new IndexWriter(path, { cacheMb: 8 });
  const writer = open();
  writer.setChain(1, 0);
  return { path, open, writer };
}

/** The blocks that follow the head, up to `last`, with what was skipped in them. */
function batch(first: number, last: number, ...skipped: SkippedLogs[][]) {
  return { ...toBatch(BLOCKS.slice(first, last + 1)), skipped: skipped.flat() };
}

const TOTALS = {
  skippedLogs: { transfer_data: 7, frame_type: 1 },
  skippedIn: { transfer_data: txHash('3'), frame_type: txHash('8') },
  skippedContracts: [
    { contract: address('odd'), reason: 'transfer_data', logs: 6, txHash: txHash('3') },
    { contract: address('other'), reason: 'transfer_data', logs: 1, txHash: txHash('5') },
  ],
};

test('skipped logs are counted by reason and contract, and the counts survive a restart', (t) => {
  const { writer, open } = newIndex(t);
  assert.deepEqual(writer.skippedLogs()?.skippedContracts, []);
  writer.append([batch(0, 4, skip(3, { odd: 2 })), batch(5, 6, skip(5, { other: 1, odd: 1 }))]);
  writer.append([batch(7, 9, [PAYMENT], skip(9, { odd: 3 }))]);
  assert.deepEqual(writer.skippedLogs(), TOTALS);
  writer.close();
  const again = open();
  t.after(() => again.close());
  assert.deepEqual(again.skippedLogs(), TOTALS);
});

test('a block that is removed and read again counts once', (t) => {
  const { writer } = newIndex(t);
  t.after(() => writer.close());
  const skipped = [skip(3, { odd: 2 }), skip(5, { other: 1, odd: 1 }), [PAYMENT], skip(9, { odd: 3 })];
  writer.append([batch(0, 9, ...skipped)]);
  writer.rollback(4);
  writer.append([batch(5, 9, ...skipped.slice(1))]);
  assert.deepEqual(writer.skippedLogs(), TOTALS);
  writer.append([batch(10, 10, skip(10, { odd: 1 }))]);
  assert.equal(writer.skippedLogs()?.skippedLogs['transfer_data'], 8);
});

test('a failed commit counts nothing', (t) => {
  const { writer } = newIndex(t);
  t.after(() => writer.close());
  let steps = 0;
  const fail = () => {
    if (++steps > 1) throw new Error('stop');
  };
  const batches = [batch(0, 40, skip(3, { odd: 1 }))];
  assert.throws(() => writer.append(batches, fail), /stop/);
  assert.deepEqual(writer.skippedLogs()?.skippedLogs, {});
  writer.append(batches);
  assert.deepEqual(writer.skippedLogs()?.skippedLogs, { transfer_data: 1 });
});

test('the twenty contracts with the most logs are listed, and the busy ones outlive a flood of others', (t) => {
  const { path, writer } = newIndex(t);
  writer.close();
  const db = openDatabase(path);
  t.after(() => db.close());
  const table = new SkippedLogTable(db, 50);
  for (let block = 1; block <= 600; block++) {
    const busy: Record<string, number> =
      block % 10 === 0 ? { 'busy 0': 10, 'busy 1': 9, 'busy 2': 8, 'busy 3': 7 } : {};
    for (const each of skip(block, { [`flood ${block}`]: 1, ...busy })) table.add(each);
  }
  const { skippedLogs, skippedContracts } = table.totals();
  assert.equal(skippedLogs['transfer_data'], 600 + 60 * (10 + 9 + 8 + 7));
  assert.equal(skippedContracts.length, 20);
  assert.deepEqual(
    skippedContracts.slice(0, 4).map(({ contract }) => contract),
    ['busy 0', 'busy 1', 'busy 2', 'busy 3'].map(address),
  );
  assert.equal(db.prepare('SELECT count(*) FROM skipped_logs').pluck().get(), 51);
});
