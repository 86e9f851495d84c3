import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runHooks } from '../support/runs/hook-run.ts';
import { tempDir } from '../support/temp-dir.ts';

/** scripts/soak/hook-soak.ts runs 200. */
const KILLS = 3;

test(`a daemon killed ${KILLS} times under reorgs delivers everything, repeats with the same ids`, async (t) => {
  const { events, withdrawn } = await runHooks({
    seed: 1,
    kills: KILLS,
    dir: tempDir(t),
    lifeMs: 1_000,
    blockEveryMs: 60,
  });
  assert.ok(events > 500 && withdrawn > 10, `${events} events, ${withdrawn} withdrawn`);
});
