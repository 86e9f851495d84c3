/** The demo traffic as a measure of the indexer as a whole: what it says it makes is what the index holds. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import { DEPLOYED_BADGES, deployDemo } from '../../src/dev/deploy.ts';
import { makeTraffic } from '../../src/dev/traffic.ts';
import { openDatabase } from '../../src/store/open.ts';
import { type IndexStatus, KIND_NAMES } from '../../src/types.ts';
import { WriterClient } from '../../src/writer/client.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait.ts';

const INDEX = {
  startBlock: 'earliest',
  head: 'auto',
  traces: true,
  pollMs: 20,
  readyLag: 5,
  batchTransfers: 5_000,
  loaders: 1,
  cacheMb: 16,
} as const;

/** Indexes the chain up to its head and returns the last status. */
async function indexChain(anvil: Anvil, indexPath: string, wrapped: string): Promise<IndexStatus> {
  const node = { http: anvil.url, ws: anvil.wsUrl, timeoutMs: 5_000, maxSockets: 8, batch: 30 };
  const head = Number(await anvil.call('eth_blockNumber'));
  let status: IndexStatus | undefined;
  const listeners = {
    onWatermark: () => undefined,
    onLog: () => undefined,
    onStatus: (reported: IndexStatus) => {
      status = reported;
    },
  };
  const writer = new WriterClient({ indexPath, node, index: INDEX, wrappedNative: [wrapped] }, listeners);
  try {
    const indexed = () => (status?.head?.number === head ? status : undefined);
    return await waitFor(indexed, { what: `block ${head} in the index` });
  } finally {
    await writer.stop();
  }
}

test('the index of a demo chain holds what the traffic says it made', async (t) => {
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  const contracts = await deployDemo(anvil.url, { mine: true });
  const { yields } = await makeTraffic(anvil.url, contracts, { rounds: 2, mine: true });

  const path = join(tempDir(t), 'index.db');
  const status = await indexChain(anvil, path, contracts.wrapped);
  const db = openDatabase(path, { readonly: true });
  t.after(() => db.close());
  const stored = db.prepare<[number], { n: number }>('SELECT count(*) AS n FROM transfers WHERE kind = ?');
  const { malformed, ...transfers } = { ...yields, erc721: yields.erc721 + DEPLOYED_BADGES };
  const held = Object.fromEntries(KIND_NAMES.map((name, kind) => [name, stored.get(kind)?.n]));
  assert.deepEqual(held, transfers);
  assert.equal(
    Object.values(status.skippedLogs).reduce((sum, count) => sum + count, 0),
    malformed,
  );
});
