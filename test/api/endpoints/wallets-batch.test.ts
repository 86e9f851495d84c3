import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { NodeBalances } from '../../../src/api/node-reads.ts';
import { openNodeReads } from '../../../src/daemon/node-reads.ts';
import { UpstreamError } from '../../../src/lib/errors.ts';
import type { RpcCall, RpcReply } from '../../../src/node/client.ts';
import { TransactionParties } from '../../../src/streams/transfers/transaction-parties.ts';
import { errorOf, serve } from '../../server/serving.ts';
import { address, createIndex, type NamedTransfer, timestampOf } from '../../support/index/index-fixture.ts';

const PATH = '/api/wallets/batch';
const silent = { debug() {}, info() {}, warn() {}, error() {} };

async function servePair(t: TestContext) {
  const index = createIndex(t, 5);
  index.append([
    { a: [{ from: 'alice', to: 'bob' }] },
    { b: [{ kind: 'erc20', from: 'bob', to: 'dave', token: 'coin', logIndex: 0 }] },
  ]);
  const serving = await serve(t, { index });
  return { ...serving, batch: (value: unknown) => serving.post(PATH, JSON.stringify(value)) };
}

test('each address, exactly as sent, maps to its facts or to null', async (t) => {
  const { batch } = await servePair(t);
  const bob = address('bob');
  const shouted = `0x${bob.slice(2).toUpperCase()}`;
  const response = await batch({
    addresses: [bob, shouted, bob, address('dave'), address('nobody'), address('coin')],
  });
  const facts = {
    firstSeenBlock: 5,
    lastSeenBlock: 6,
    txCount: 2,
    lastActivity: new Date(timestampOf(6) * 1000).toISOString(),
    firstFunder: address('alice'),
    firstFundingBlock: 5,
  };
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('x-indexed-block'), '6');
  assert.deepEqual(await response.json(), {
    wallets: {
      [bob]: facts,
      [shouted]: facts,
      [address('dave')]: {
        ...facts,
        firstSeenBlock: 6,
        txCount: 1,
        firstFunder: null,
        firstFundingBlock: null,
      },
      [address('nobody')]: null,
      [address('coin')]: null,
    },
    count: 5,
    historicalCoverageStartBlock: 5,
  });
});

test('100 addresses are accepted, 101 are refused', async (t) => {
  const { batch } = await servePair(t);
  const addresses = Array.from({ length: 101 }, (_, i) => address(`wallet ${i}`));
  const full = await batch({ addresses: addresses.slice(1) });
  assert.equal(full.status, 200);
  const { error } = await errorOf(await batch({ addresses }));
  assert.deepEqual(error, {
    code: 'batch_too_large',
    message: 'addresses must be a list of 1 to 100 items',
    param: 'addresses',
  });
});

test('the error names the position of a bad address', async (t) => {
  const { batch } = await servePair(t);
  for (const bad of ['alice', 7, null, address('bob').slice(2)]) {
    const response = await batch({ addresses: [address('alice'), bad, 'worse'] });
    assert.equal(response.status, 400);
    assert.deepEqual((await errorOf(response)).error, {
      code: 'invalid_address',
      message: 'addresses[1] must be an address: 0x and 40 hex digits',
      param: 'addresses[1]',
    });
  }
});

test('malformed bodies are refused', async (t) => {
  const { post } = await servePair(t);
  const deep = '['.repeat(10_000) + ']'.repeat(10_000);
  const bodies = [
    '',
    'addresses',
    '{',
    '[]',
    'null',
    '7',
    '{}',
    '{"addresses":[]}',
    '{"addresses":"0x"}',
    '{"addresses":null}',
    '{"addresses":{"0":"x"}}',
    deep,
    `{"addresses":${deep}}`,
  ];
  for (const body of bodies) {
    const response = await post(PATH, body);
    const { error } = await errorOf(response);
    assert.equal(response.status, 400, body.slice(0, 40));
    assert.match(error.code, /^invalid_(body|address)$/, body.slice(0, 40));
    assert.notEqual(response.headers.get('ratelimit-limit'), null);
  }
});

test('unknown members of the body are ignored', async (t) => {
  const { batch } = await servePair(t);
  const response = await batch({ addresses: [address('nobody')], color: 'red', ['__proto__']: 1 });
  assert.equal(response.status, 200);
});

test('fields add the answers of other endpoints to each entry, even from a read thread', async (t) => {
  const index = createIndex(t);
  const names = Array.from({ length: 100 }, (_, i) => `wallet ${i}`);
  index.append([{ fund: names.map((to) => ({ from: 'funder', to, amount: 5n })) }]);
  const { json, post } = await serve(t, { index });
  const addresses = names.map((name) => address(name));
  const ask = async (body: object) =>
    JSON.parse(await (await post('/api/wallets/batch', JSON.stringify(body))).text());
  const { wallets } = await ask({ addresses, fields: ['summary', 'funding', 'labels'] });
  for (const wallet of [addresses[0], addresses[99]]) {
    const { summary, funding, labels } = wallets[wallet ?? ''];
    assert.deepEqual(summary, await json(`/api/wallet_summary?address=${wallet}`));
    assert.deepEqual(funding, await json(`/api/wallet_funding_source?address=${wallet}`));
    assert.deepEqual(labels, await json(`/api/wallet_label?address=${wallet}`));
  }
  const one = await ask({ addresses: [address('nobody'), addresses[0]], fields: ['funding'] });
  assert.equal(one.wallets[address('nobody')], null);
  assert.deepEqual(Object.keys(one.wallets[addresses[0] ?? '']).slice(-1), ['funding']);
  const { error } = await ask({ addresses, fields: ['everything'] });
  assert.deepEqual([error.code, error.param], ['invalid_body', 'fields[0]']);
});

test('a portfolio of 100 wallets is one request: tokens and native balances', async (t) => {
  const index = createIndex(t);
  const names = Array.from({ length: 99 }, (_, i) => `wallet ${i}`);
  const give = (to: string, token: string): NamedTransfer => ({ kind: 'erc20', token, from: 'zero', to });
  index.append([
    { gold: names.map((to) => give(to, 'gold')) },
    { many: Array.from({ length: 25 }, (_, i) => give('wallet 7', `token ${i}`)) },
  ]);
  const batches: RpcCall[][] = [];
  const client = {
    call: () => Promise.reject(new Error('balances are read in batches')),
    batch: async (calls: readonly RpcCall[]): Promise<RpcReply[]> => {
      batches.push([...calls]);
      return calls.map((_, i) =>
        i === 3
          ? { error: new UpstreamError('rpc', 'missing trie node') }
          : { result: `0x${i.toString(16)}` },
      );
    },
  };
  const { json, post } = await serve(t, {
    index,
    nodeReads: openNodeReads(client, new TransactionParties(client), silent),
  });
  const addresses: string[] = [...names, 'nobody'].map(address);
  const shouted = `0x${(addresses[5] ?? '').slice(2).toUpperCase()}`;
  addresses[5] = shouted;
  const answer = await post(
    PATH,
    JSON.stringify({ addresses, fields: ['tokens', 'nativeBalance', 'summary'] }),
  );
  const { wallets } = (await answer.json()) as { wallets: Record<string, Record<string, unknown> | null> };
  assert.equal(batches.length, 1);
  assert.deepEqual(batches[0]?.[5], {
    method: 'eth_getBalance',
    params: [shouted.toLowerCase(), '0x2'],
  });
  for (const [i, wallet] of addresses.entries()) {
    const entry = wallets[wallet];
    if (i === 99) {
      assert.equal(entry, null);
      continue;
    }
    const [wei, coins] = [`${i}`, i === 0 ? '0' : `0.${String(i).padStart(18, '0').replace(/0+$/, '')}`];
    const balance =
      i === 3 ? [null, null, 'the node has no balance after the last indexed block'] : [coins, wei, null];
    for (const record of [entry, entry?.summary as Record<string, unknown>])
      assert.deepEqual(
        [record?.nativeBalance, record?.nativeBalanceWei, record?.nativeBalanceReason],
        balance,
        `wallet ${i}`,
      );
    assert.deepEqual(entry?.tokens, await json(`/api/wallet_tokens?address=${wallet}&limit=20`));
  }
});

test('balances that the node does not give are null with the reason, and bounded in number', async () => {
  const { promise, resolve } = Promise.withResolvers<RpcReply[]>();
  const never = { call: () => promise, batch: () => promise };
  const slow = openNodeReads(never, new TransactionParties(never), silent);
  const hundred = Array.from({ length: 100 }, (_, i) => address(`${i}`));
  const pending = Array.from({ length: 10 }, () => slow.balancesAt(hundred, 7));
  const reasons = (balances: NodeBalances) => new Set([...balances.values()].map(({ reason }) => reason));
  assert.deepEqual(
    reasons(await slow.balancesAt(hundred.slice(1), 7)),
    new Set(['too many balances are being read']),
  );
  resolve(hundred.map(() => ({ result: '0x5' })));
  for (const balances of await Promise.all(pending)) assert.deepEqual(reasons(balances), new Set([null]));
  assert.deepEqual(reasons(await slow.balancesAt(hundred, 7)), new Set([null]), 'room again');
  const down = () => Promise.reject(new UpstreamError('connection', 'refused'));
  const client = { call: down, batch: down };
  const unreachable = openNodeReads(client, new TransactionParties(client), silent);
  assert.deepEqual(
    reasons(await unreachable.balancesAt(hundred, 7)),
    new Set(['the node did not answer in time']),
  );
});
