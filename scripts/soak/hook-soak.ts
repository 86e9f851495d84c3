/** The long form of test/hooks/kills.slow.test.ts. See `--help`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runHooks } from '../../test/support/runs/hook-run.ts';
import { MAX_SEED, readOptions } from '../options.ts';

const { kills, minutes, seed } = readOptions(
  'Delivers webhooks to good, flaky, absent and dead receivers while the daemon is killed and the chain reorganised. ' +
    'Finality passes each fork.',
  {
    kills: { kind: 'whole', about: 'kills with SIGKILL', default: 200, range: [1, 1_000_000] },
    minutes: { kind: 'decimal', about: 'in all', default: 20, range: [0.1, 1_440] },
    seed: { kind: 'whole', about: 'of the chain and the moments', default: 1, range: [0, MAX_SEED] },
  },
);

const dir = mkdtempSync(join(tmpdir(), 'atlas-hooks-'));
console.log(`in ${dir}`);
const lifeMs = Math.max(100, (2 * minutes * 60_000) / kills - 1_600);
const { events, repeated, withdrawn } = await runHooks({
  seed,
  kills,
  dir,
  lifeMs,
  blockEveryMs: 250,
  onKill: (kill, events) => console.log(`killed ${kill} times; ${events} events accepted`),
});
console.log(
  `${events} events, ${withdrawn} withdrawals, ${repeated} repeated under the same id; nothing is missing`,
);
rmSync(dir, { recursive: true });
