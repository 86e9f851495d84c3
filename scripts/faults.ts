/**
 * The long form of test/writer/faults.test.ts: nodes that misbehave at random, for many seeds.
 *
 *   faults [--runs N] [--steps N] [--seed N]     N seeds (50) of N steps each (150), from the seed given (1) on
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runFaults } from '../test/support/fault-run.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '50' },
    steps: { type: 'string', default: '150' },
    seed: { type: 'string', default: '1' },
  },
});

const kinds: Record<string, number> = {};
const first = Number(values.seed);
for (let seed = first; seed < first + Number(values.runs); seed++) {
  const folder = mkdtempSync(join(tmpdir(), 'atlas-faults-'));
  const dirs: [string, string] = [join(folder, 'trial'), join(folder, 'fresh')];
  for (const dir of dirs) mkdirSync(dir);
  const startedAt = Date.now();
  const { actual, fresh, rollbacks, faults } = await runFaults({
    seed,
    steps: Number(values.steps),
    lasting: true,
    dirs,
  });
  const expected = new Set(fresh);
  const wrong = actual.filter((row) => !expected.has(row));
  if (wrong.length > 0 || actual.length !== fresh.length) {
    console.error(`seed ${seed}: ${actual.length} rows instead of ${fresh.length}, kept in ${folder}`);
    console.error(wrong.slice(0, 10).join('\n'));
    process.exitCode = 1;
    break;
  }
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
