/**
 * The long form of test/crash.test.ts: kills a daemon with SIGKILL at random moments, and compares in the end.
 *
 *   crash [--kills N] [--seed N]     200 kills, seed 1; a failure leaves the files where it says
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCrashes } from '../test/support/crash-run.ts';

/** Kills on one chain; then another one begins. */
const KILLS_PER_CHAIN = 50;

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
});

let left = Number(values.kills);
for (let seed = Number(values.seed); left > 0; seed++) {
  const dir = mkdtempSync(join(tmpdir(), 'atlas-crash-'));
  console.log(`chain ${seed}, in ${dir}`);
  const { actual, fresh, kills, answered, counted } = await runCrashes({
    seed,
    kills: Math.min(left, KILLS_PER_CHAIN),
    dir,
    onKill: (kill, phase) => console.log(`killed ${kill} times, now while ${phase}`),
  });
  left -= KILLS_PER_CHAIN;
  const expected = new Set(fresh);
  const wrong = actual.filter((row) => !expected.has(row));
  if (wrong.length > 0 || actual.length !== fresh.length)
    throw new Error(`${wrong.length} of ${actual.length} rows differ, such as ${wrong[0]}`);
  const phases = Object.entries(kills).map(([phase, count]) => `${count} ${phase}`);
  console.log(
    `${fresh.length} rows equal after kills while ${phases.join(', ')}; ${counted} of ${answered} answered requests counted`,
  );
  rmSync(dir, { recursive: true });
}
