import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RpcClient } from '../../src/node/client.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { BalanceAccuracy } from '../../src/store/tokens/balance-accuracy.ts';
import { examineToken } from '../../src/tokens/examine-token.ts';
import { startOddChain } from '../support/chain/odd-tokens.ts';
import { randomSource } from '../support/chain/random-chain.ts';
import { buildIndex } from '../support/index/build-index.ts';
import { tempDir } from '../support/temp-dir.ts';

test('an offset that differs only from one known earlier names no blocks between which it changed', async (t) => {
  const chain = await startOddChain(t);
  const token = await chain.deploy('PlainToken');
  await chain.mint(token, 0, 1_000);
  const startBlock = (await chain.head()) + 1;
  await chain.transfer(token, 0, 1, 400);
  const { url } = chain.anvil;
  const path = await buildIndex({ url, dir: tempDir(t), startBlock });
  const db = openIndexForReading(path);
  t.after(() => db.close());
  const client = new RpcClient({ url, timeoutMs: 20_000, maxSockets: 2, maxBatch: 50 });
  t.after(() => client.close());
  const { signal } = new AbortController();
  const context = {
    db,
    client,
    startBlock,
    wrappedNative: new Set<string>(),
    random: randomSource(1),
    signal,
  };

  const first = await examineToken(context, 1);
  assert.equal(first?.quality, BalanceAccuracy.partial);
  const known = first.offsets.map(({ wallet, offset }) => ({ wallet, offset: offset + 1n }));
  const later = await examineToken(context, 1, known);
  assert.equal(later?.quality, BalanceAccuracy.unreliable);
  assert.equal(later.driftRange, null);
});
