import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHASES, runCrashes } from './support/runs/crash-run.ts';
import { tempDir } from './support/temp-dir.ts';

/** scripts/soak/crash.ts runs 200. */
const KILLS = 10;

test(`a daemon killed ${KILLS} times has the index of a daemon never killed, gaps included`, async (t) => {
  const { actual, fresh, repaired, complete, gaps, kills, answered, counted } = await runCrashes({
    seed: 1,
    kills: KILLS,
    dir: tempDir(t),
  });
  assert.deepEqual(actual, fresh);
  assert.ok(gaps > 10, `${gaps} gaps`);
  assert.deepEqual(repaired, complete, 'a repair fills them');
  for (const phase of PHASES) assert.ok(kills[phase] >= 2, `${phase}: ${kills[phase]} kills`);
  assert.ok(answered > 20 && counted > 20, `${answered} requests answered, ${counted} counted`);
});
