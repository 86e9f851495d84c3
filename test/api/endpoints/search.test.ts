import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { serve } from '../../server/serving.ts';
import {
  address,
  createIndex,
  type IndexFixture,
  type NamedBlock,
  txHash,
} from '../../support/index/index-fixture.ts';

type AskApi = (path: string, input: Record<string, string>) => Promise<Record<string, unknown>>;

async function askApi(t: TestContext, index: IndexFixture): Promise<AskApi> {
  const { json } = await serve(t, { index });
  return (path, input) => json(`/api/${path}?${new URLSearchParams(input)}`);
}

/** A token with this many transfers. */
function transfersOf(token: string, count: number): NamedBlock {
  const transfer = { kind: 'erc20' as const, from: 'zero', to: 'alice', token };
  return {
    [`mints of ${token}`]: Array.from({ length: count }, (_, logIndex) => ({ ...transfer, logIndex })),
  };
}

/** Tokens by their contract, with name and symbol. */
const TOKENS: Record<string, [name: string | null, symbol: string | null, transfers: number]> = {
  dollar: ['US Dollar', 'USD', 5],
  'false dollar': ['Dollar of somebody else', 'usd', 1],
  'old dollar': ['Old Dollar', 'USDX', 9],
  'dollar by name': ['usd', 'XYZ', 2],
  euro: ['Euro', 'EUR', 3],
  number: ['Two', '2', 1],
  unread: [null, null, 4],
};

function askIndexed(t: TestContext): Promise<AskApi> {
  const index = createIndex(t);
  index.append(Object.entries(TOKENS).map(([token, [, , transfers]]) => transfersOf(token, transfers)));
  index.writer.saveMetadata(
    Object.entries(TOKENS).map(([token, [name, symbol]]) => ({
      address: address(token),
      name,
      symbol,
      decimals: 6,
      tries: 1,
      retryAt: null,
    })),
  );
  return askApi(t, index);
}

async function found(ask: AskApi, q: string): Promise<unknown[]> {
  const { results, count } = await ask('search', { q });
  assert.ok(Array.isArray(results));
  assert.equal(count, results.length);
  return results.map(({ kind, value, symbol, detail }) => [kind, value, symbol, detail]);
}

test('tokens are found by symbol, then by name, then by a prefix of either, most used first', async (t) => {
  const ask = await askIndexed(t);
  const expected = [
    ['token', address('dollar'), 'USD', 'erc20, 5 transfers'],
    ['token', address('false dollar'), 'usd', 'erc20, 1 transfers'],
    ['token', address('dollar by name'), 'XYZ', 'erc20, 2 transfers'],
    ['token', address('old dollar'), 'USDX', 'erc20, 9 transfers'],
  ];
  assert.deepEqual(await found(ask, 'usd'), expected);
  assert.deepEqual(await found(ask, ' USD '), expected);
  assert.deepEqual(await found(ask, 'US D'), [['token', address('dollar'), 'USD', 'erc20, 5 transfers']]);
  assert.deepEqual(await found(ask, 'nothing like it'), []);
  assert.deepEqual(await found(ask, '%'), []);
});

test('an address is found as a wallet and as a token, in any case', async (t) => {
  const ask = await askIndexed(t);
  const euro = address('euro');
  assert.deepEqual(await found(ask, `0x${euro.slice(2).toUpperCase()}`), [
    ['token', euro, 'EUR', 'erc20, 3 transfers'],
    ['wallet', euro, null, 'no indexed activity'],
  ]);
  assert.deepEqual(await found(ask, address('alice')), [
    ['wallet', address('alice'), null, '7 transactions'],
  ]);
});

test('a number is a block and may be a symbol; a hash is a block or a transaction', async (t) => {
  const ask = await askIndexed(t);
  const [block] = await found(ask, '2');
  assert.deepEqual(block, ['block', '2', null, '2023-11-14T22:13:24.000Z']);
  assert.deepEqual((await found(ask, '2'))[1], ['token', address('number'), '2', 'erc20, 1 transfers']);
  const { blockHash } = await ask('block_transfers', { block: '2' });
  assert.deepEqual(await found(ask, String(blockHash)), [block]);
  const hash = txHash('mints of euro');
  assert.deepEqual(await found(ask, hash), [['transaction', hash, null, 'in block 5']]);
  assert.deepEqual(await found(ask, txHash('nowhere')), []);
  assert.deepEqual(await found(ask, '999'), []);
});

test('among very many tokens with one symbol the most used is found', async (t) => {
  const index = createIndex(t);
  const names = Array.from({ length: 1_500 }, (_, i) => `copy ${i}`);
  index.append(names.map((name) => transfersOf(name, name === 'copy 1234' ? 3 : 1)));
  index.writer.saveMetadata(
    names.map((name) => ({
      address: address(name),
      name: 'Copy',
      symbol: 'COPY',
      decimals: 0,
      tries: 1,
      retryAt: null,
    })),
  );
  const ask = await askApi(t, index);
  const { results, count } = await ask('search', { q: 'copy' });
  assert.ok(Array.isArray(results));
  assert.deepEqual([results[0].value, count], [address('copy 1234'), 20]);
});
