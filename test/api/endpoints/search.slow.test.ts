import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openLabelsFile } from '../../../src/labels/labels-file.ts';
import { serve } from '../../server/serving.ts';
import {
  address,
  createIndex,
  type IndexFixture,
  type NamedBlock,
  txHash,
} from '../../support/index/index-fixture.ts';
import { tempDir } from '../../support/temp-dir.ts';

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
    ['token', address('false dollar'), 'usd', 'erc20, 1 transfer'],
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
  assert.deepEqual((await found(ask, '2'))[1], ['token', address('number'), '2', 'erc20, 1 transfer']);
  const { blockHash } = await ask('block_transfers', { block: '2' });
  assert.deepEqual(await found(ask, String(blockHash)), [block]);
  const hash = txHash('mints of euro');
  assert.deepEqual(await found(ask, hash), [['transaction', hash, null, 'in block 5']]);
  assert.deepEqual(await found(ask, txHash('nowhere')), []);
  assert.deepEqual(await found(ask, '999'), []);
});

/** The addresses found, or the note if there are none. */
async function addressesOf(ask: AskApi, q: string): Promise<unknown> {
  const { results, note } = await ask('search', { q });
  assert.ok(Array.isArray(results));
  return results.length === 0 ? note : results.map(({ kind, value }) => `${kind} ${value}`);
}

test('what names a block opens it, and a block beyond the index or before it is named as such', async (t) => {
  const index = createIndex(t, 1_200);
  index.append([transfersOf('coin', 1), transfersOf('coin', 1)]);
  const ask = await askApi(t, index);
  for (const q of ['1,200', '#1200', 'block 1200', ' Block #1,200 ', 'https://explorer.example/block/1200'])
    assert.deepEqual(await addressesOf(ask, q), ['block 1200'], q);
  for (const q of ['1202', 'block 1202', '#1,202'])
    assert.equal(await addressesOf(ask, q), 'block 1202 is beyond the last indexed block 1201', q);
  assert.equal(await addressesOf(ask, 'block 7'), 'block 7 is before the first indexed block 1200');
});

/** Two names whose addresses share their first and last two digits. */
function twinNames(): [string, string] {
  const known = new Map<string, string>();
  for (let i = 0; ; i++) {
    const key = address(`twin ${i}`).replace(/^0x(..).*(..)$/, '$1$2');
    const twin = known.get(key);
    if (twin !== undefined) return [twin, `twin ${i}`];
    known.set(key, `twin ${i}`);
  }
}

test('an address is found by its first and last digits, in a quote and in a link', async (t) => {
  const [like, other] = twinNames();
  const index = createIndex(t);
  index.append([{ a: [{ from: like, to: other }], b: [{ from: 'alice', to: other }] }]);
  const ask = await askApi(t, index);
  const digits = address(like).slice(2);
  const [start, end] = [digits.slice(0, 2), digits.slice(-2)];
  const both = [`wallet ${address(other)}`, `wallet ${address(like)}`];
  for (const q of [
    `0x${start}…${end}`,
    `0x${start.toUpperCase()}...${end.toUpperCase()}`,
    `"0x${start}*${end}"`,
  ])
    assert.deepEqual(await addressesOf(ask, q), both, q);
  for (let length = 4; length < 40; length++) {
    const q = `0x${digits.slice(0, length)}`;
    assert.deepEqual(await addressesOf(ask, q), [`wallet 0x${digits}`], q);
    if (length > 36) continue;
    const short = `0x${digits.slice(0, length)}…${digits.slice(length + 1)}`;
    assert.deepEqual(await addressesOf(ask, short), [`wallet 0x${digits}`], short);
  }
  assert.equal(await addressesOf(ask, `0x${digits.slice(0, 38)}${digits.endsWith('0') ? '1' : '0'}`), null);
  for (const q of [`"0x${digits}"`, digits, `https://explorer.example/address/0x${digits}#tokens`])
    assert.deepEqual(await addressesOf(ask, q), [`wallet 0x${digits}`], q);
});

test('labels are found by any of their words, and labelled addresses by their digits', async (t) => {
  const index = createIndex(t);
  index.append([{ a: [{ from: 'alice', to: 'bob' }] }]);
  const directory = tempDir(t);
  const file = openLabelsFile(`${directory}/labels.db`);
  const rows = { 'Big Exchange: hot wallet 14': 'alice', '100%_real': 'bob', 'Hot tub': 'nobody' };
  file.import(
    Object.entries(rows).map(([name, of]) => ({
      address: address(of),
      name,
      category: 'other',
      source: 'x',
    })),
  );
  file.close();
  const { json } = await serve(t, { index, labelsPath: `${directory}/labels.db` });
  const ask: AskApi = (path, input) => json(`/api/${path}?${new URLSearchParams(input)}`);
  const [alice, bob, nobody] = ['alice', 'bob', 'nobody'].map((of) => `label ${address(of)}`);
  for (const [q, expected] of Object.entries({
    hot: [nobody, alice],
    'HOT wallet': [alice],
    'wallet 14': [alice],
    '14 big wallet': [alice],
    'wallet 15': null,
    '0%_r': [bob],
    '%_': [bob],
    __: null,
    o: null,
  }))
    assert.deepEqual(await addressesOf(ask, q), expected, q);
  const hidden = address('nobody');
  assert.deepEqual(await addressesOf(ask, `${hidden.slice(0, 8)}…${hidden.slice(-4)}`), [`wallet ${hidden}`]);
});

test('a name of a naming service is answered in a sentence', async (t) => {
  const ask = await askIndexed(t);
  assert.equal(
    await addressesOf(ask, 'vitalik.eth'),
    'vitalik.eth is a name of a naming service, which are not resolved here: search for its address, or for a label',
  );
  assert.equal(await addressesOf(ask, 'yearn.finance'), null);
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
