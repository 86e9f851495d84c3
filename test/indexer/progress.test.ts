import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { BatchBuilder } from '../../src/decode/batch.ts';
import { Progress } from '../../src/indexer/progress.ts';
import type { IndexedBlock } from '../../src/model/block.ts';
import type { BlockGap } from '../../src/model/block-gap.ts';

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

/** Rates at the end of each pause. A commit of 100 blocks follows each pause that is not marked as quiet. */
function ratesOver(
  t: TestContext,
  rate: 'blocksPerSecond' | 'blocksPerSecondLastMinute',
  steps: readonly { seconds: number; commit: boolean }[],
): number[] {
  let now = 1_000;
  const clock = t.mock.method(performance, 'now', () => now);
  const progress = new Progress(5);
  const batch = { ...new BatchBuilder().finish(true), number: Uint32Array.of(7), blockCount: 100 };
  const rates = steps.map(({ seconds, commit }) => {
    now += seconds * 1_000;
    if (commit) progress.recordCommit([batch], blockAt(56), 0.1);
    return Math.round(progress.takeReport().status[rate]);
  });
  clock.mock.restore(); // before the next replacement: the end of the test restores the oldest first
  return rates;
}

test('rates cover the last ten seconds, and fall to zero when commits stop', (t) => {
  const commit = (seconds: number) => ({ seconds, commit: true });
  const quiet = (seconds: number) => ({ seconds, commit: false });
  const steps = [commit(10), commit(5), commit(5), commit(2), quiet(8), quiet(120)];
  assert.deepEqual(ratesOver(t, 'blocksPerSecond', steps), [10, 13, 20, 25, 13, 0]);
});

test('commits far apart do not make the rates jump', (t) => {
  const steps = Array.from({ length: 12 }, (_, i) => ({ seconds: 10, commit: i % 3 === 2 }));
  assert.deepEqual(ratesOver(t, 'blocksPerSecond', steps), [0, 0, ...Array(10).fill(3)]);
  assert.deepEqual(ratesOver(t, 'blocksPerSecondLastMinute', steps), [0, 0, ...Array(10).fill(3)]);
});

test('blocks without traces are reported from the first to the last', () => {
  const progress = new Progress(5);
  for (const [number, traced] of [
    [3, false],
    [4, true],
    [5, false],
  ] as const) {
    const gaps: BlockGap[] = traced ? [] : [{ kind: 'trace', first: number, last: number, reason: 'why' }];
    const batch = { ...new BatchBuilder().finish(true), number: Uint32Array.of(number), blockCount: 1, gaps };
    progress.recordCommit([batch], blockAt(number), 0.1);
  }
  assert.deepEqual(progress.status.untraced, {
    first: 3,
    last: 5,
    blocks: 2,
    reasons: [{ reason: 'why', blocks: 2 }],
  });
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
    logGaps: null,
    skipped: null,
  });
  assert.equal(progress.status.phase, 'backfilling');
});
