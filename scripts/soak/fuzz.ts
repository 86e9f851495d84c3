/** Checks the properties of test/support/fuzz with as many inputs as time permits. See `--help`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Snapshot } from '../../src/query/snapshot.ts';
import { WalletIdCache } from '../../src/query/wallet-id-cache.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { randomBlocks, toBatch } from '../../test/support/chain/random-chain.ts';
import { CLIENT_INPUT, restInputs } from '../../test/support/fuzz/client-input.ts';
import { CONFIG } from '../../test/support/fuzz/config.ts';
import { NODE_ANSWERS } from '../../test/support/fuzz/node-answers.ts';
import type { Property } from '../../test/support/fuzz/property.ts';
import { VALUES } from '../../test/support/fuzz/values.ts';
import { indexedTransfers } from '../../test/support/index/index-rows.ts';
import { readOptions, refuse } from '../options.ts';

/** Inputs per round. After each round, checks the time and reports memory. */
const RUNS_PER_ROUND = 2_000;

const options = readOptions('Tries random inputs on the parsers, the REST API and the configuration.', {
  seconds: { kind: 'whole', about: 'for each property', default: 30, range: [1, 86_400] },
  only: { kind: 'text', about: 'only the properties whose name has this text', default: '' },
  seed: { kind: 'whole', about: 'of the first round, random without it', range: [0, 2 ** 31 - 1] },
});

const folder = mkdtempSync(join(tmpdir(), 'atlas-fuzz-'));
process.once('exit', () => rmSync(folder, { recursive: true }));
const properties = [...NODE_ANSWERS, ...CLIENT_INPUT, rest(), ...CONFIG, ...VALUES];
const chosen = properties.filter(({ name }) => name.includes(options.only));
if (chosen.length === 0) {
  const names = properties.map(({ name }) => `"${name}"`).join(', ');
  refuse(`no property has "${options.only}" in its name; they are ${names}`);
}
for (const property of chosen) fuzz(property, options.seconds * 1_000);

function fuzz(property: Property, ms: number): void {
  const deadline = Date.now() + ms;
  let seed = options.seed ?? Math.floor(Math.random() * 2 ** 31);
  let rounds = 0;
  for (; rounds === 0 || Date.now() < deadline; rounds++, seed++)
    property.check({ runs: RUNS_PER_ROUND, seed, timeLimitMs: Math.max(1_000, deadline - Date.now()) });
  const inputs = Math.round((rounds * RUNS_PER_ROUND) / property.cost);
  const mib = Math.round(process.memoryUsage().rss / 2 ** 20);
  console.log(`${property.name}: about ${inputs.toLocaleString('en-US')} inputs, ${mib} MiB`);
}

/** The REST API over a small random index. */
function rest(): Property {
  const path = join(folder, 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  writer.append([toBatch(randomBlocks(1, 300, `0x${'00'.repeat(32)}`, 4))]);
  writer.close();
  const db = openIndexForReading(path);
  const snapshot = new Snapshot(db);
  const head = snapshot.head();
  if (head === null) throw new Error('the index is empty');
  const transfers = indexedTransfers(dirname(path)).slice(0, 100);
  return restInputs(
    { db, walletIds: new WalletIdCache(db, snapshot), nativeSymbol: 'MON', maxReorg: 128 },
    head,
    transfers.flatMap(({ from, to, token }) => [from, to, token ?? from]),
  );
}
