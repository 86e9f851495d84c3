/** The long form of test/crash.slow.test.ts. See `--help`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCrashes } from '../../test/support/runs/crash-run.ts';
import { assertSameRows } from '../../test/support/same-rows.ts';
import { MAX_SEED, readOptions } from '../options.ts';

/** Kills per chain. Then another chain starts. */
const KILLS_PER_CHAIN = 50;

const options = readOptions(
  'Kills a daemon with SIGKILL at random moments, and compares its index in the end. A failure leaves the files.',
  {
    kills: {
      kind: 'whole',
      about: `kills, ${KILLS_PER_CHAIN} a chain`,
      default: 200,
      range: [1, 1_000_000],
    },
    seed: {
      kind: 'whole',
      about: 'of the first chain; the next has the next',
      default: 1,
      range: [0, MAX_SEED],
    },
  },
);

let left = options.kills;
for (let { seed } = options; left > 0; seed++) {
  const dir = mkdtempSync(join(tmpdir(), 'atlas-crash-'));
  console.log(`chain ${seed}, in ${dir}`);
  const { actual, fresh, repaired, complete, gaps, kills, answered, counted } = await runCrashes({
    seed,
    kills: Math.min(left, KILLS_PER_CHAIN),
    dir,
    onKill: (kill, phase) => console.log(`killed ${kill} times, now while ${phase}`),
  });
  left -= KILLS_PER_CHAIN;
  assertSameRows(actual, fresh, 'after the kills');
  assertSameRows(repaired, complete, `after a repair of ${gaps} gaps`);
  const phases = Object.entries(kills).map(([phase, count]) => `${count} ${phase}`);
  console.log(
    `${fresh.length} rows equal after kills while ${phases.join(', ')}; ${counted} of ${answered} answered ` +
      'requests counted',
  );
  rmSync(dir, { recursive: true });
}
