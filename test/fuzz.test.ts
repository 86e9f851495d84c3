import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { Snapshot } from '../src/query/snapshot.ts';
import { WalletIdCache } from '../src/query/wallet-id-cache.ts';
import { openIndexForReading } from '../src/store/index-file.ts';
import { IndexWriter } from '../src/store/index-writer.ts';
import { randomBlocks, toBatch } from './support/chain/random-chain.ts';
import { CLIENT_INPUT, restInputs } from './support/fuzz/client-input.ts';
import { CONFIG } from './support/fuzz/config.ts';
import { VALUES } from './support/fuzz/values.ts';
import { indexedTransfers } from './support/index/index-rows.ts';
import { tempDir } from './support/temp-dir.ts';

/** Inputs per property, always the same. scripts/soak/fuzz.ts generates others, as many as time permits. */
const INPUTS = { runs: 500, seed: 1 };

describe('packed values are read back unchanged', () => {
  for (const property of VALUES) test(property.name, () => property.check(INPUTS));
});

describe('any configuration is accepted, or refused in one line', () => {
  for (const property of CONFIG) test(property.name, () => property.check(INPUTS));
});

describe('whatever a client sends is answered or refused, and soon', () => {
  for (const property of CLIENT_INPUT) test(property.name, () => property.check(INPUTS));
  test('queries and bodies of the REST API', (t) => {
    const path = join(tempDir(t), 'index.db');
    const writer = new IndexWriter(path, { cacheMb: 8 });
    writer.setChain(1, 1);
    writer.append([toBatch(randomBlocks(1, 150, `0x${'00'.repeat(32)}`, 4))]);
    writer.close();
    const db = openIndexForReading(path);
    const snapshot = new Snapshot(db);
    t.after(() => {
      snapshot.release();
      db.close();
    });
    const head = snapshot.head();
    if (head === null) throw new Error('the index is empty');
    const transfers = indexedTransfers(dirname(path)).slice(0, 40);
    restInputs(
      { db, walletIds: new WalletIdCache(db, snapshot), nativeSymbol: 'MON', maxReorg: 128 },
      head,
      transfers.flatMap(({ from, to, token }) => [from, to, token ?? from]),
    ).check(INPUTS);
  });
});
