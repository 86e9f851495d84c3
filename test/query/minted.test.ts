/** minted and burned of token_stats equal the sums of the transfers from and to the zero address. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { IndexWriter } from '../../src/store/index-writer.ts';
import { randomBlocks, toBatch } from '../support/chain/random-chain.ts';
import { askApi } from '../support/clients/ask-api.ts';
import { address, createIndex, type NamedTransfer, ZERO_ADDRESS } from '../support/index/index-fixture.ts';
import { indexedTransfers } from '../support/index/index-rows.ts';
import { forgetDerived } from '../support/index/older-index.ts';
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

test('an index of an earlier release has them once it has summed the mints up to its head', async (t) => {
  const index = createIndex(t);
  index.append([
    { early: [move('zero', 'alice', 50n), move('zero', 'zero', 7n), move('alice', 'zero', 5n)] },
    { nfts: [{ kind: 'erc721', token: 'coin', tokenId: 3n, from: 'zero', to: 'bob', amount: 1n }] },
    { late: [move('zero', 'bob', 4n)] },
  ]);
  const ask = askApi(t, index.path);
  const sums = async () => {
    const { minted, burned, truncated } = await ask('token_stats', { token: address('coin') });
    return [minted, burned, truncated];
  };
  assert.deepEqual(await sums(), ['54', '5', false]);
  forgetDerived(index.path);
  assert.deepEqual(await sums(), [null, null, true]);
  while (index.writer.deriveStep(2) !== null);
  assert.deepEqual(await sums(), ['54', '5', false]);
  index.writer.rollback(2);
  assert.deepEqual(await sums(), ['50', '5', false]);
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

test('count by the form that moves holdings, however little or much', async (t) => {
  const index = createIndex(t);
  const most = 2n ** 256n - 1n;
  const units = (from: string, to: string, tokenId: bigint, amount: bigint): NamedTransfer => ({
    kind: 'erc1155',
    token: 'units',
    from,
    to,
    tokenId,
    amount,
  });
  const nft = (from: string, to: string, tokenId: bigint): NamedTransfer => ({
    kind: 'erc721',
    token: 'nft',
    from,
    to,
    tokenId,
    amount: 1n,
  });
  index.append([
    { most: [move('zero', 'alice', most), move('zero', 'bob', most), move('bob', 'zero', most)] },
    { unindexed: [move('alice', 'zero', 7n, 'burned'), move('zero', 'bob', 0n, 'burned')] },
    {
      units: [units('zero', 'alice', 1n, 5n), units('zero', 'alice', 2n, 6n), units('alice', 'zero', 2n, 4n)],
    },
    { nfts: [nft('zero', 'alice', 0n), nft('zero', 'alice', 9n), nft('alice', 'zero', 9n)] },
    { both: [move('zero', 'bob', 3n, 'nft'), move('zero', 'zero', 4n), nft('zero', 'zero', 5n)] },
    { again: [nft('zero', 'alice', 9n), move('zero', 'bob', 2n, 'burned')] },
  ]);
  const ask = askApi(t, index.path);
  const sumsOf = async (token: string) => {
    const { minted, burned, supply } = await ask('token_stats', { token: address(token) });
    return [minted, burned, supply];
  };
  const all = async () => Promise.all(['coin', 'burned', 'units', 'nft'].map(sumsOf));
  const whole = [
    [`${2n * most}`, `${most}`, `${most}`],
    ['2', '7', null],
    ['11', '4', '7'],
    ['3', '1', '2'],
  ];
  assert.deepEqual(await all(), whole);
  forgetDerived(index.path);
  while (index.writer.deriveStep(1) !== null);
  assert.deepEqual(await all(), whole);
  forgetDerived(index.path);
  for (let step = 0; step < 20; step++) index.writer.deriveStep(1); // to within the mints
  index.writer.rollback(3);
  while (index.writer.deriveStep(1) !== null);
  assert.deepEqual(await all(), [whole[0], ['0', '7', null], whole[2], [null, null, null]]);
});
