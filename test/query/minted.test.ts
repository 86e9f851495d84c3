/** minted and burned of token_stats equal the sums of the transfers from and to the zero address. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { prepareMinted } from '../../src/query/minted.ts';
import { prepareTokenFacts } from '../../src/query/tokens.ts';
import { unitBudget } from '../../src/query/work-budget.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { askApi } from '../support/clients/ask-api.ts';
import { address, createIndex, type NamedTransfer, ZERO_ADDRESS } from '../support/index/index-fixture.ts';
import { indexedTransfers } from '../support/index/index-rows.ts';
import { tempDir } from '../support/temp-dir.ts';

const move = (from: string, to: string, amount: bigint, token = 'coin'): NamedTransfer => ({
  kind: 'erc20',
  token,
  from,
  to,
  amount,
});

test('of every token of a random chain', async (t) => {
  const path = join(tempDir(t), 'index.db');
  const writer = new IndexWriter(path, { cacheMb: 8 });
  writer.setChain(1, 1);
  writer.append([toBatch(randomBlocks(1, 150, `0x${'00'.repeat(32)}`, 3))]);
  writer.close();
  const transfers = indexedTransfers(dirname(path));
  const ask = askApi(t, path);
  let burns = 0;
  for (const token of new Set(transfers.flatMap((transfer) => transfer.token ?? []))) {
    const own = transfers.filter((transfer) => transfer.token === token);
    const moved = own.filter(({ kind, from, to }) => kind === own[0]?.kind && from !== to);
    const sum = (side: 'from' | 'to') =>
      moved.reduce((total, transfer) => total + (transfer[side] === ZERO_ADDRESS ? transfer.amount : 0n), 0n);
    const { minted, burned, supply, truncated } = await ask('token_stats', { token });
    assert.deepEqual([minted, burned, truncated], [`${sum('from')}`, `${sum('to')}`, false], token);
    const left = sum('from') - sum('to');
    assert.equal(supply, left > 0n ? `${left}` : null);
    if (sum('to') > 0n) burns++;
  }
  assert.ok(burns > 0);
});

test('a token with many transfers has them only if all its mints were early', (t) => {
  const index = createIndex(t);
  index.append([
    { early: [move('zero', 'alice', 50n), move('zero', 'alice', 9n, 'other'), move('alice', 'zero', 5n)] },
    ...Array.from({ length: 300 }, (_, i) => ({
      [`${i}`]: [move('alice', 'bob', 1n, 'other'), move('bob', 'alice', 1n)],
    })),
  ]);
  index.append([{ late: [move('zero', 'bob', 4n, 'other')] }]);
  const { db, snapshot, walletIds } = index.snapshot(t);
  assert.ok(snapshot.head());
  const facts = (name: string) =>
    walletIds.withId(address(name), prepareTokenFacts(db)) ?? assert.fail(`no token ${name}`);
  const budget = unitBudget(1e6);
  const few = prepareMinted(db, 100);
  assert.deepEqual(few(facts('coin'), budget), { minted: 50n, burned: 5n });
  assert.equal(few(facts('other'), budget), null);
  assert.deepEqual(prepareMinted(db)(facts('other'), budget), { minted: 13n, burned: 0n });
});

test('a token that was never minted has neither', async (t) => {
  const index = createIndex(t);
  index.append([{ a: [move('alice', 'bob', 5n)] }]);
  const ask = askApi(t, index.path);
  const { minted, burned, supply } = await ask('token_stats', { token: address('coin') });
  assert.deepEqual([minted, burned, supply], ['0', '0', null]);
  const unknown = await ask('token_stats', { token: address('nothing') });
  assert.deepEqual([unknown.minted, unknown.burned, unknown.truncated], [null, null, false]);
});
