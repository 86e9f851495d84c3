/** token_launch where sellers, payers and ids mislead: transactions as they were recorded on Ethereum, shortened. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { askApi } from '../../support/clients/ask-api.ts';
import {
  address,
  createIndex,
  type NamedBlock,
  type NamedTransfer,
} from '../../support/index/index-fixture.ts';
import { coin, token } from '../../support/trades/named-transfers.ts';

const item = (from: string, to: string, tokenId: bigint, amount: bigint): NamedTransfer => ({
  kind: 'erc1155',
  token: 'items',
  ...coin(from, to, amount),
  tokenId,
});

/** How each of `names` got a token, for what, and whether it counts, in the order of the list. */
async function launch(t: TestContext, blocks: readonly NamedBlock[], of: string, names: readonly string[]) {
  const index = createIndex(t);
  index.append(blocks);
  const ask = askApi(t, index.path, { nativeEquivalents: [address('wmon')] });
  const { buyers } = await ask('token_launch', { token: address(of) });
  assert.ok(Array.isArray(buyers));
  const named = new Map(names.map((name) => [address(name) as string, name]));
  return buyers.map(({ address, how, payer, amount, paid, counted }) => [
    named.get(address),
    how,
    payer,
    amount,
    paid === null ? null : paid.amount,
    counted,
  ]);
}

test('who gave a buyer the token and got nothing for it is no pool: its coins went to another wallet', async (t) => {
  const blocks: NamedBlock[] = [
    { reserves: [token('zero', 'pool', 90n, 'wmon')] },
    { gifts: [token('maker', 'bot', 50n), token('maker', 'trader', 50n)] },
    { ofBot: [token('bot', 'pool', 50n), token('pool', 'operator', 9n, 'wmon')] },
    {
      ofTrader: [token('trader', 'other pool', 50n), token('other pool', 'trader', 9n, 'wmon')],
    },
  ];
  assert.deepEqual(await launch(t, blocks, 'meme', ['bot', 'trader', 'pool', 'other pool']), [
    ['bot', 'received', null, '50', null, true],
    ['trader', 'received', null, '50', null, false],
    ['pool', 'bought', null, '50', '9', true],
    ['other pool', 'bought', null, '50', '9', true],
  ]);
});

test('who pays for the exchange of one id for another bought it, an amount of 0 if numbers are equal', async (t) => {
  const blocks: NamedBlock[] = [
    {
      equal: [coin('alice', 'shop', 9n), item('alice', 'zero', 2n, 130n), item('zero', 'alice', 10n, 130n)],
      more: [coin('bob', 'shop', 9n), item('bob', 'zero', 2n, 1n), item('zero', 'bob', 10n, 3n)],
      free: [item('carol', 'zero', 2n, 1n), item('zero', 'carol', 10n, 3n)],
    },
  ];
  assert.deepEqual(await launch(t, blocks, 'items', ['alice', 'bob', 'carol']), [
    ['alice', 'bought', null, '0', null, false],
    ['bob', 'bought', null, '2', null, true],
    ['carol', 'bought', null, '2', '1', true],
  ]);
});

test('who gave some of the token too is no payer, also if it gave the coin for the wrapped coin', async (t) => {
  const blocks: NamedBlock[] = [
    {
      arbitrage: [
        coin('bot', 'builder', 2n),
        token('bot', 'usd pool', 3n, 'usd'),
        token('dog pool', 'maker', 60n, 'wmon'),
        token('maker', 'usd pool', 54n, 'wmon'),
        token('bot', 'dog pool', 7n, 'dog'),
      ],
    },
  ];
  assert.deepEqual(await launch(t, blocks, 'wmon', ['maker', 'usd pool']), [
    ['maker', 'received', null, '6', null, true],
    ['usd pool', 'received', null, '54', null, true],
  ]);
});

test('funds that came after the token, in a later transaction of its block, have no age', async (t) => {
  const index = createIndex(t);
  index.append([
    {
      creation: [token('zero', 'maker', 10n)],
      gift: [token('maker', 'early', 1n)],
      late: [coin('rich', 'early', 5n)],
      both: [token('maker', 'same', 1n), coin('rich', 'same', 5n)],
    },
  ]);
  const { buyers, summary } = await askApi(t, index.path)('token_launch', { token: address('meme') });
  assert.ok(Array.isArray(buyers));
  assert.deepEqual(
    buyers.map(({ address, funder, fundingAgeBlocks }) => [address, funder, fundingAgeBlocks]),
    [
      [address('maker'), null, null],
      [address('early'), address('rich'), null],
      [address('same'), address('rich'), 0],
    ],
  );
  assert.equal(Object(summary).fresh, 1);
});
