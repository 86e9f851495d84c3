/** The long form of the flapping test in test/indexer/random-faults.slow.test.ts. See `--help`. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptCleanup } from '../../test/support/cleanup.ts';
import { runFlapping } from '../../test/support/runs/flapping-run.ts';
import { MAX_SEED, readOptions } from '../options.ts';

const { minutes, seed } = readOptions(
  'Indexes behind an address that leads to the right chain, to one that is behind and to another chain by ' +
    'turns of 100 ms to 10 s, and checks that nothing is removed that the right chain holds. A failure ' +
    'leaves the files.',
  {
    minutes: { kind: 'decimal', about: 'how long', default: 10, range: [0.05, 1_440] },
    seed: { kind: 'whole', about: 'of the chains and the turns', default: 1, range: [0, MAX_SEED] },
  },
);

const dir = mkdtempSync(join(tmpdir(), 'atlas-flapping-'));
const dirs = { flapping: join(dir, 'flapping'), fresh: join(dir, 'fresh') };
for (const folder of Object.values(dirs)) mkdirSync(folder);
const owner = scriptCleanup();
console.log(`files in ${dir}`);
try {
  const result = await runFlapping(owner, {
    seed,
    forMs: minutes * 60_000,
    turnMs: [100, 10_000],
    blocks: 4_000,
    dirs,
    onTurn: (text) => console.log(text),
  });
  console.log(JSON.stringify(result));
} finally {
  await owner.close();
}
rmSync(dir, { recursive: true });
