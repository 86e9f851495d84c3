import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { errorOf, type Serving, serve } from '../server/serving.ts';
import {
  address,
  createIndex,
  type NamedBlock,
  txHash,
  ZERO_ADDRESS,
} from '../support/index/index-fixture.ts';

async function serveBlocks(t: TestContext, blocks: readonly NamedBlock[]): Promise<Serving> {
  const index = createIndex(t);
  index.append(blocks);
  return serve(t, { index });
}

/** Each name pays the next, one block each. */
function line(names: readonly string[]): NamedBlock[] {
  return names.slice(1).map((to, i) => ({ [`pay ${i}`]: [{ from: names[i]!, to }] }));
}

async function fundersOf(serving: Serving, name: string, query = ''): Promise<unknown[]> {
  const { chain, depth } = await serving.json(`/api/funding_chain?address=${address(name)}${query}`);
  assert.ok(Array.isArray(chain));
  assert.equal(depth, chain.length);
  assert.deepEqual(
    chain.map(({ hop }) => hop),
    chain.map((_, i) => i + 1),
  );
  chain.reduce((funded, hop) => {
    assert.equal(hop.funded, funded);
    return hop.funder;
  }, address(name));
  return chain.map(({ funder }) => funder);
}

test('funding_chain follows first funders, five hops by default and ten at most', async (t) => {
  const names = Array.from({ length: 13 }, (_, i) => `wallet ${i}`);
  const serving = await serveBlocks(t, line(names));
  const funders = names.toReversed().slice(1).map(address);
  assert.deepEqual(await fundersOf(serving, 'wallet 12'), funders.slice(0, 5));
  for (const depth of [1, 5, 10]) {
    assert.deepEqual(await fundersOf(serving, 'wallet 12', `&depth=${depth}`), funders.slice(0, depth));
  }
  assert.deepEqual(await fundersOf(serving, 'wallet 2', '&depth=10'), [
    address('wallet 1'),
    address('wallet 0'),
  ]);
});

test('funding_chain stops before a cycle', async (t) => {
  const serving = await serveBlocks(t, line(['alice', 'bob', 'carol', 'alice']));
  assert.deepEqual(await fundersOf(serving, 'alice'), [address('carol'), address('bob')]);
});

test('funding_chain stops at a wallet funded only by the zero address or itself', async (t) => {
  const serving = await serveBlocks(t, [
    { mint: [{ from: 'zero', to: 'alice' }], self: [{ from: 'alice', to: 'alice' }] },
    { burn: [{ from: 'carol', to: 'zero' }], pay: [{ from: 'alice', to: 'bob' }] },
  ]);
  assert.deepEqual(await fundersOf(serving, 'bob'), [address('alice')]);
  assert.deepEqual(await serving.json(`/api/funding_chain?address=${ZERO_ADDRESS}`), {
    address: ZERO_ADDRESS,
    chain: [],
    depth: 0,
    historicalCoverageStartBlock: 1,
  });
});

test("funding_chain is limited to the depth of the key's tier", async (t) => {
  const names = Array.from({ length: 9 }, (_, i) => `wallet ${i}`);
  const { fetch, access } = await serveBlocks(t, line(names));
  const { key } = access.keys.create({ name: 'app', tier: 'free' });
  const ask = (query: string) =>
    fetch(`/api/funding_chain?address=${address('wallet 8')}${query}`, { headers: { 'X-API-Key': key } });
  assert.equal((await ask('&depth=5')).status, 200);
  const refused = await ask('&depth=6');
  assert.equal(refused.status, 403);
  assert.equal((await errorOf(refused)).error.code, 'tier_limit');
});

test('coordinated_wallets lists the wallets funded nearest in block first, the earlier one on a tie', async (t) => {
  const paid = (name: string) => ({ [`to ${name}`]: [{ from: 'hub', to: name }] });
  const serving = await serveBlocks(t, [
    paid('far before'),
    {},
    paid('just before'),
    { ...paid('same block'), ...paid('alice') },
    paid('just after'),
    { again: [{ from: 'hub', to: 'alice' }], ...paid('two after') },
    { other: [{ from: 'stranger', to: 'nobody' }] },
  ]);
  const of = (query: string) => serving.json(`/api/coordinated_wallets?address=${address('alice')}${query}`);
  const { coordinated, ...rest } = await of('');
  assert.ok(Array.isArray(coordinated));
  const nearest = ['same block', 'just before', 'just after', 'two after', 'far before'];
  assert.deepEqual(
    coordinated.map((entry) => [entry.address, entry.txHash, entry.source]),
    nearest.map((name) => [address(name), txHash(`to ${name}`), 'direct']),
  );
  assert.deepEqual(rest, {
    address: address('alice'),
    funder: address('hub'),
    funderFundedCount: 6,
    hub: false,
    nextCursor: null,
    count: 5,
    historicalCoverageStartBlock: 1,
  });
  const two = await of('&limit=2');
  assert.deepEqual(two.coordinated, coordinated.slice(0, 2));
  assert.equal(two.funderFundedCount, 6);
});

test('a funder of more than a thousand wallets is a hub', async (t) => {
  const crowd = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ from: 'hub', to: `wallet ${i}` }));
  const serving = await serveBlocks(t, [{ many: crowd(1_000) }]);
  const url = `/api/coordinated_wallets?address=${address('wallet 500')}&limit=200`;
  const { hub, funderFundedCount, count } = await serving.json(url);
  assert.deepEqual([hub, funderFundedCount, count], [false, 1_000, 200]);
  serving.index.append([{ one: [{ from: 'hub', to: 'one more' }] }]);
  assert.equal((await serving.json(url)).hub, true);
});

test('funding_recipients stays within its window and marks first fundings', async (t) => {
  const serving = await serveBlocks(t, [
    { early: [{ from: 'funder', to: 'alice', amount: 3n }], other: [{ from: 'stranger', to: 'bob' }] },
    { second: [{ from: 'funder', to: 'alice', amount: 4n }] },
    { inside: [{ kind: 'native_internal', from: 'funder', to: 'bob', amount: 5n }] },
    {
      token: [{ kind: 'erc20', from: 'funder', to: 'carol', amount: 9n }],
      self: [{ from: 'funder', to: 'funder' }],
    },
  ]);
  const recipients = async (blocks: number) => {
    const answer = await serving.json(
      `/api/funding_recipients?address=${address('funder')}&blocks=${blocks}`,
    );
    assert.ok(Array.isArray(answer.recipients));
    return answer.recipients.map((entry) => [
      entry.address,
      entry.amountWei,
      entry.transferCount,
      entry.firstBlock,
      entry.lastBlock,
      entry.source,
      entry.firstFunding,
    ]);
  };
  const bob = [address('bob'), '5', 1, 3, 3, 'internal', false];
  assert.deepEqual(await recipients(10_000), [bob, [address('alice'), '7', 2, 1, 2, 'direct', true]]);
  assert.deepEqual(await recipients(3), [bob, [address('alice'), '4', 1, 2, 2, 'direct', true]]);
  assert.deepEqual(await recipients(2), [bob]);
  assert.deepEqual(await recipients(1), []);
});
