import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchBuilder } from '../../src/decode/batch.ts';
import type { IndexedBlock } from '../../src/types.ts';
import { Progress } from '../../src/writer/progress.ts';

function blockAt(number: number): IndexedBlock {
  return { number, hash: `0x${'00'.repeat(32)}`, timestamp: 1_763_740_800 };
}

test('a clock that is put right changes no rate, and the last commit is told by it', (t) => {
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

test('a rollback that puts the index far behind the node is filling again', () => {
  const progress = new Progress(5);
  progress.setNodeHead(100);
  progress.recordCommit([], blockAt(100), 0.1);
  assert.equal(progress.status.phase, 'following');
  progress.setContents({ head: { ...blockAt(40), lastTransfer: 7, lastWallet: 2 }, untraced: null });
  assert.equal(progress.status.phase, 'filling');
});
