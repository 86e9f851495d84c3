import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchBuilder } from '../../src/decode/batch.ts';
import { Progress } from '../../src/indexer/progress.ts';
import type { IndexedBlock } from '../../src/model/block.ts';

function blockAt(number: number): IndexedBlock {
  return { number, hash: `0x${'00'.repeat(32)}`, timestamp: 1_763_740_800 };
}

test('setting the clock changes no rate, and the time of the last commit follows it', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_763_740_800_000 });
  const progress = new Progress(5);
  const batch = { ...new BatchBuilder().finish(true), number: Uint32Array.of(7), blockCount: 50 };
  const rateNow = () => progress.takeReport().status.blocksPerSecond;
  progress.recordCommit([batch], blockAt(56), 0.1);
  const rate = rateNow();
  assert.ok(rate > 0);
  t.mock.timers.setTime(1_763_744_400_000);
  assert.equal(rateNow(), rate);
  progress.recordCommit([batch], blockAt(56), 0.1);
  assert.equal(progress.takeReport().status.lastCommitAt, 1_763_744_400_000);
});

test('rates are of the last ten seconds', (t) => {
  let now = 1_000;
  t.mock.method(performance, 'now', () => now);
  const progress = new Progress(5);
  const batch = { ...new BatchBuilder().finish(true), number: Uint32Array.of(7), blockCount: 50 };
  const rates = [0, 9_000, 2_000, 10_000].map((pause) => {
    now += pause;
    if (pause < 10_000) progress.recordCommit([batch], blockAt(56), 0.1);
    return progress.takeReport().status.blocksPerSecond;
  });
  assert.deepEqual(rates, [5, 10, 10, 0]);
});

test('the ETA counts the last minute, so that commits far apart do not make it jump', (t) => {
  let now = 1_000;
  t.mock.method(performance, 'now', () => now);
  const progress = new Progress(5);
  const batch = { ...new BatchBuilder().finish(true), number: Uint32Array.of(7), blockCount: 180 };
  const rates = [18_000, 15_000, 3_000, 100_000].map((pause) => {
    now += pause;
    if (pause !== 15_000 && pause < 100_000) progress.recordCommit([batch], blockAt(56), 0.1);
    return progress.takeReport().status.blocksPerSecondLastMinute;
  });
  assert.deepEqual(rates.map(Math.round), [10, 5, 10, 0]);
});

test('blocks without traces are reported from the first to the last', () => {
  const progress = new Progress(5);
  for (const [number, traced] of [
    [3, false],
    [4, true],
    [5, false],
  ] as const) {
    const batch = { ...new BatchBuilder().finish(traced), number: Uint32Array.of(number), blockCount: 1 };
    progress.recordCommit([batch], blockAt(number), 0.1);
  }
  assert.deepEqual(progress.status.untraced, { first: 3, last: 5, blocks: 2 });
});

test('an index is following as long as it is no more blocks behind than is configured', () => {
  const progress = new Progress(5);
  progress.recordCommit([], blockAt(100), 0.1);
  const phases = [105, 106].map((head) => {
    progress.setNodeHead(head);
    return progress.status.phase;
  });
  assert.deepEqual(phases, ['following', 'backfilling']);
});

test('a rollback that puts the index far behind the node is backfilling again', () => {
  const progress = new Progress(5);
  progress.setNodeHead(100);
  progress.recordCommit([], blockAt(100), 0.1);
  assert.equal(progress.status.phase, 'following');
  progress.setContents({
    head: { ...blockAt(40), lastTransfer: 7, lastWallet: 2, transactions: 0 },
    untraced: null,
  });
  assert.equal(progress.status.phase, 'backfilling');
});
