/** Real repairs, followed by a real PostgreSQL. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { repairFile } from '../support/index/verify.ts';
import { startNode } from '../support/nodes/replay.ts';
import { startPostgres } from '../support/sink/postgres.ts';
import { startSink } from '../support/sink/sink.ts';
import { storedSinkRows } from '../support/sink/sink-rows.ts';
import { tempDir } from '../support/temp-dir.ts';

const HEAD = 20;
const CHAIN = [...generateChain({ seed: 71, blocks: HEAD, txPerBlock: 8 }).blocks];

test('PostgreSQL equals the index after a repair of sums alone, and after one of a copied amount', async (t) => {
  const node = await startNode(t, { chain: CHAIN });
  const path = await buildIndex({ url: node.url, dir: tempDir(t), startBlock: 1 });
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.close(); // the sink reads the file; the repair locks it
  const server = await startPostgres(t);
  const url = await server.createDatabase('repairs');
  const copy = async (): Promise<string[]> => {
    const sink = startSink(t, { path, writer }, { url });
    await sink.equals({ last: HEAD });
    await sink.client.stop();
    assert.doesNotMatch(sink.logs.join('\n'), /different chains/);
    return storedSinkRows(url);
  };
  const damage = (statement: string): void => {
    const db = openDatabase(path);
    db.exec(statement);
    db.close();
  };
  const right = await copy();

  damage("UPDATE wallets SET native_sent = x'01' WHERE id = 1");
  assert.equal((await repairFile(path, node.url, null, HEAD)).rebuilt, true);
  assert.deepEqual(await copy(), right);

  damage(
    'UPDATE transfers SET value = CAST(7 AS BLOB) WHERE id = (SELECT min(id) FROM transfers WHERE token_kind = 0)',
  );
  const damaged = await server.createDatabase('copied_damage');
  const wrong = startSink(t, { path, writer }, { url: damaged });
  await wrong.equals({ last: HEAD });
  await wrong.client.stop();
  assert.notDeepEqual(await storedSinkRows(damaged), right, 'the wrong amount was copied');
  await repairFile(path, node.url, 1, HEAD);
  const again = startSink(t, { path, writer }, { url: damaged });
  await again.equals({ last: HEAD });
  await again.client.stop();
  assert.deepEqual(await storedSinkRows(damaged), right);
});
