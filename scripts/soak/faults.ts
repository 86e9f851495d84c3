/** The long form of test/indexer/random-faults.slow.test.ts. See `--help`. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runFaults } from '../../test/support/runs/fault-run.ts';
import { assertSameRows } from '../../test/support/same-rows.ts';
import { MAX_SEED, readOptions } from '../options.ts';

const options = readOptions(
  'Indexes from nodes that misbehave at random, and compares. The first run that differs is the last, and ' +
    'leaves its files.',
  {
    runs: { kind: 'whole', about: 'runs, each with the next seed', default: 50, range: [1, 1_000_000] },
    steps: { kind: 'whole', about: 'steps of a run', default: 150, range: [1, 1_000_000] },
    seed: { kind: 'whole', about: 'of the first run', default: 1, range: [0, MAX_SEED] },
  },
);

const kinds: Record<string, number> = {};
const { runs, steps, seed: first } = options;
for (let seed = first; seed < first + runs; seed++) {
  const folder = mkdtempSync(join(tmpdir(), 'atlas-faults-'));
  const dirs: [string, string] = [join(folder, 'trial'), join(folder, 'fresh')];
  for (const dir of dirs) mkdirSync(dir);
  const startedAt = Date.now();
  const { actual, fresh, rollbacks, faults } = await runFaults({
    seed,
    steps,
    lasting: true,
    dirs,
  });
  assertSameRows(actual, fresh, `seed ${seed}, kept in ${folder}`);
  rmSync(folder, { recursive: true });
  for (const [kind, count] of Object.entries(faults)) kinds[kind] = (kinds[kind] ?? 0) + count;
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(0);
  console.log(`seed ${seed}: ${fresh.length} rows equal after ${rollbacks} rollbacks, ${seconds} s`);
}
console.log(
  Object.entries(kinds)
    .map(([kind, count]) => `${kind} ${count}`)
    .sort()
    .join(', '),
);
