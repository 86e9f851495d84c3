/**
 * Measures how many concurrent calls stock clients get answered, by client, tier and number of calls, or compares the
 * daemon with stock development nodes. See `--help`.
 */
import { join } from 'node:path';
import { BATCHING, SINGLE } from '../test/support/clients/stock-clients.ts';
import { compareNodes } from '../test/support/clients/stock-nodes.ts';
import { startStockWorld } from '../test/support/clients/stock-world.ts';
import { ROOT } from '../test/support/daemon/command.ts';
import { readOptions } from './options.ts';

const options = readOptions(
  'Sends calls at once with stock clients at their defaults, and counts the answers. With --nodes, installs ' +
    'Hardhat and ' +
    'Ganache instead, and compares index, subscriptions, filters and cached calls with them while their ' +
    'chain is reverted.',
  {
    only: { kind: 'text', about: 'only clients or nodes whose name has this text', default: '' },
    tier: { kind: 'text', about: 'only this tier', default: '' },
    calls: { kind: 'whole', about: 'only this number of calls', range: [1, 1_000] },
    nodes: { kind: 'flag', about: 'compare with nodes' },
    reverts: { kind: 'whole', about: 'reverts of the chain of each node', default: 100, range: [1, 10_000] },
    folder: { kind: 'text', about: 'where to install nodes', default: join(ROOT, 'dist', 'stock-nodes') },
  },
);
if (options.nodes) {
  process.exit((await compareNodes({ ...options, print: (line) => console.log(line) })) ? 0 : 1);
}

const TIERS = ['free', 'growth', 'pro'].filter((tier) => options.tier === '' || tier === options.tier);
const COUNTS = options.calls === undefined ? [6, 60, 150, 1_000] : [options.calls];

const cleanups: (() => unknown)[] = [];
const world = await startStockWorld({ after: (cleanup) => void cleanups.push(cleanup) });
console.log('client                         tier    calls  answered  seconds  first error');
for (const [name, client] of Object.entries({ ...BATCHING, ...SINGLE })) {
  if (!name.includes(options.only)) continue;
  for (const tier of TIERS) {
    for (const count of COUNTS) {
      const { answered, wrong, seconds, error } = await world.run(client, tier, count);
      const cells = [
        name.padEnd(30),
        tier.padEnd(7),
        pad(count, 5),
        pad(answered, 9),
        pad(seconds.toFixed(1), 8),
      ];
      console.log(cells.join(' '), ` ${wrong > 0 ? `${wrong} WRONG ` : ''}${error ?? ''}`.trimEnd());
    }
  }
}
for (const cleanup of cleanups.reverse()) await cleanup();
process.exit(0); // clients keep connections and timers

function pad(value: number | string, width: number): string {
  return String(value).padStart(width);
}
