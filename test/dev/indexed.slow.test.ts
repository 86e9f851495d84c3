/** Tests the whole indexer with the demo traffic: the index must contain exactly the reported traffic. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAnvil } from '../../src/dev/anvil.ts';
import { DEPLOYED_BADGES, deployDemo } from '../../src/dev/deploy.ts';
import { generateTraffic } from '../../src/dev/traffic.ts';
import { TRANSFER_KIND_NAMES } from '../../src/model/transfer-kind.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { startIndexer } from '../support/index/indexer.ts';
import { tempDir } from '../support/temp-dir.ts';

test('the index of a demo chain contains exactly the reported traffic', async (t) => {
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  const contracts = await deployDemo(anvil.url, { mine: true });
  const { yields } = await generateTraffic(anvil.url, contracts, { rounds: 2, mine: true });

  const indexer = startIndexer(t, {
    http: anvil.url,
    ws: anvil.wsUrl,
    dir: tempDir(t),
    wrappedNative: [contracts.wrapped],
  });
  await indexer.reaches(Number(await anvil.call('eth_blockNumber')));
  const { skippedLogs } = indexer.status();
  const db = openDatabase(indexer.path, { readonly: true });
  t.after(() => db.close());
  const stored = db.prepare<[number], { n: number }>('SELECT count(*) AS n FROM transfers WHERE kind = ?');
  const { malformed, ...transfers } = { ...yields, erc721: yields.erc721 + DEPLOYED_BADGES };
  const held = Object.fromEntries(TRANSFER_KIND_NAMES.map((name, kind) => [name, stored.get(kind)?.n]));
  assert.deepEqual(held, transfers);
  assert.equal(
    Object.values(skippedLogs).reduce((sum, count) => sum + count, 0),
    malformed,
  );
});
