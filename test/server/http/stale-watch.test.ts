/** A chain that stopped, told from a clock that is wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initialStatus } from '../../../src/indexer/progress.ts';
import type { IndexStatus } from '../../../src/model/index-status.ts';
import { StaleWatch, staleReason } from '../../../src/server/http/readiness.ts';
import { logTo } from '../../support/logs.ts';

const YEAR = 365 * 86_400;
const STALE = 600;
/** Unix seconds that the chain begins at. */
const BEGIN = 1_750_000_000;

function following(number: number, headTimestamp: number): IndexStatus {
  const hash = `0x${'00'.repeat(32)}` as const;
  return { ...initialStatus(), phase: 'following', head: { number, hash }, nodeHead: number, headTimestamp };
}

interface Course {
  seconds: number;
  /** What the clock of the machine is ahead by, seconds. */
  ahead: number;
  /** Seconds from block to block, and those that their timestamps say. */
  every: number;
  said?: number;
}

/** The end of some seconds of a chain beside a clock. */
function watch({ seconds, ahead, every, said = every }: Course) {
  const logs: string[] = [];
  const watch = new StaleWatch(logTo(logs), STALE);
  let state = following(1, BEGIN);
  let date = 0;
  for (let second = 0; second <= seconds; second++) {
    const blocks = Math.floor(second / every);
    state = following(blocks + 1, BEGIN + blocks * said);
    date = (BEGIN + second + ahead) * 1000;
    watch.observe(state, second * 1000, date);
  }
  return { logs, reason: staleReason(state, STALE, date, watch.keepsTime) };
}

for (const every of [1, 12]) {
  test(`a clock a year ahead is named where blocks keep arriving every ${every} s`, () => {
    const { logs, reason } = watch({ seconds: 120, ahead: YEAR, every });
    assert.match(reason ?? '', /^the chain is stale: .* older than index\.stale_seconds \(600 s\), but new/);
    assert.match(reason ?? '', /the clock of this machine says 2026-06-15T\S+: the clock is ahead, or the/);
    assert.equal(logs.filter((line) => line.includes('the clock of this machine or of the chain')).length, 1);
  });
}

test('a chain that stands, and a node that reads old blocks, are no wrong clock', () => {
  const halted = watch({ seconds: 1_000, ahead: 0, every: 5_000 });
  assert.match(halted.reason ?? '', /older than index\.stale_seconds \(600 s\)$/);
  assert.deepEqual(halted.logs.length, 1);
  assert.match(halted.logs[0] ?? '', /^warn no new block/);
  const catchingUp = watch({ seconds: 120, ahead: YEAR, every: 1, said: 12 });
  assert.match(catchingUp.reason ?? '', /older than index\.stale_seconds \(600 s\)$/);
});

test('a head from the future is not ready, and says that a clock is wrong', () => {
  const { logs, reason } = watch({ seconds: 3, ahead: -YEAR, every: 1 });
  assert.match(reason ?? '', /^the newest block is from 2025-06-15T\S+, but the clock .* says 2024-06-15T/);
  assert.match(reason ?? '', /the clock is behind, or the chain's is ahead/);
  assert.equal(logs.length, 1);
  const at = (ahead: number, staleSeconds: number) =>
    staleReason(following(1, BEGIN), staleSeconds, (BEGIN - ahead) * 1000);
  assert.equal(at(STALE, STALE), null, 'at the limit');
  assert.notEqual(at(STALE + 1, STALE), null);
  assert.equal(at(60, 5), null, 'clocks differ by a minute');
  assert.notEqual(at(61, 5), null);
  assert.equal(at(YEAR, 0), null, 'the check is off');
  assert.equal(staleReason({ ...following(1, BEGIN), phase: 'backfilling' }, STALE, 0), null);
});

test('a clock that was set right is logged', () => {
  const logs: string[] = [];
  const watch = new StaleWatch(logTo(logs), STALE);
  watch.observe(following(1, BEGIN), 0, (BEGIN - YEAR) * 1000);
  watch.observe(following(1, BEGIN), 1_000, BEGIN * 1000);
  assert.match(logs.join('\n'), /info the clocks of this machine and of the chain agree again/);
});
