/** Answers that the gateway gives itself, merged or cached, are never wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Anvil, startAnvil } from '../../../src/dev/anvil.ts';
import { waitFor } from '../../support/wait.ts';
import { startGateway } from '../gateway.ts';
import { ADDRESS, hashOf, learnFinality, quantity, scripted } from './scripted.ts';

test('an answer about a final block is cached from its second request on; one about a later block never', async (t) => {
  const { chain, gateway } = await scripted(t);
  await learnFinality(gateway, 90);
  assert.ok((await gateway.metric('atlas_rpc_cache_hits_total{method="eth_getBlockByNumber"}')) > 0);
  const hits = async (...call: [string, ...unknown[]]) => {
    await gateway.result(...call);
    const [one, two] = [await gateway.result(...call), await gateway.result(...call)];
    return JSON.stringify(one) === JSON.stringify(two);
  };
  for (const [final, method, params] of [
    [true, 'eth_getBlockByNumber', ['0x10', true]],
    [false, 'eth_getBlockByNumber', [quantity(91), true]],
    [true, 'eth_getBlockByHash', [hashOf(90), false]],
    [false, 'eth_getBlockByHash', [hashOf(91), false]],
    [true, 'eth_getTransactionReceipt', [hashOf(90)]],
    [false, 'eth_getTransactionReceipt', [hashOf(95)]],
    [true, 'eth_getBalance', [ADDRESS, '0x5a']],
    [false, 'eth_getBalance', [ADDRESS, '0x5b']],
    [false, 'eth_getBalance', [ADDRESS, 'latest']],
    [false, 'eth_getBalance', [ADDRESS, 'pending']],
    [false, 'eth_getBalance', [ADDRESS, 'finalized']],
    [false, 'eth_getBalance', [ADDRESS]],
    [true, 'eth_call', [{ to: ADDRESS }, '0x1']],
    [false, 'eth_call', [{ to: ADDRESS }, 'latest']],
    [true, 'eth_getStorageAt', [ADDRESS, '0x0', '0x1']],
    [false, 'eth_estimateGas', [{ to: ADDRESS }, '0x1']],
    [true, 'eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x5' }]],
    [false, 'eth_getLogs', [{ fromBlock: '0x1', toBlock: 'finalized' }]],
    [false, 'eth_getProof', [ADDRESS, [], '0x1']],
  ] as [boolean, string, unknown[]][]) {
    assert.equal(await hits(method, ...params), final, `${method} ${JSON.stringify(params)}`);
  }
  assert.equal(
    chain.asked.filter((call) => call === 'eth_getBalance ["'.concat(ADDRESS, '","0x5a"]')).length,
    2,
  );
  assert.ok((await gateway.metric('atlas_rpc_cache_bytes')) > 1_000);
});

test('nulls and errors are never cached', async (t) => {
  const { node, gateway } = await scripted(t);
  await learnFinality(gateway);
  node.misbehave({
    nullFor: ['eth_getTransactionReceipt'],
    errorFor: { eth_call: { code: -32000, message: 'no' } },
  });
  assert.equal(await gateway.result('eth_getTransactionReceipt', hashOf(5)), null);
  assert.equal((await gateway.call('eth_call', [{}, '0x1'])).error?.message, 'no');
  node.misbehave({});
  assert.notEqual(await gateway.result('eth_getTransactionReceipt', hashOf(5)), null);
  assert.match(String(await gateway.result('eth_call', {}, '0x1')), /answer/);
});

test('cached answers are served while too many calls wait for the node', async (t) => {
  const { chain, gateway } = await scripted(t, { wire: { maxSockets: 1, maxWaiting: 1 } });
  await learnFinality(gateway);
  const calls = Array.from({ length: 20 }, (_, i) => gateway.call('eth_getCode', [String(i), 'latest']));
  const refused = (await Promise.all(calls)).filter(({ status }) => status === 502);
  assert.ok(refused.length > 10);
  const asked = chain.asked.length;
  await gateway.result('eth_getBlockByNumber', '0x1', false);
  assert.equal(chain.asked.length, asked);
});

test('invalid JSON is never cached', async (t) => {
  const { node, gateway } = await scripted(t);
  await learnFinality(gateway);
  const text = '{"jsonrpc":"2.0","id":1,"result":{"number":"0x5","transactions":[{"hash":"0x1"}}';
  for (const [wire, times] of [
    [{ kind: 'until-close', text }, 2],
    [{ kind: 'body', status: 200, text: `${text}}` }, 2],
  ] as const) {
    node.misbehave({ wire, times, when: ({ params }) => params[0] === '0x5' });
    assert.equal((await gateway.call('eth_getBlockByNumber', ['0x5', false])).status, 502, wire.kind);
  }
  const block = (await gateway.result('eth_getBlockByNumber', '0x5', false)) as { hash: string };
  assert.equal(block.hash, hashOf(5));
});

test('an answer about a block that was not requested is not cached', async (t) => {
  const { node, chain, gateway } = await scripted(t);
  await learnFinality(gateway);
  node.misbehave({
    replace: (method, _, result) =>
      method === 'eth_getBlockByHash' ? { ...(result as object), hash: '0x1' } : result,
  });
  await gateway.result('eth_getBlockByHash', hashOf(5), false);
  node.misbehave({});
  assert.deepEqual(
    ((await gateway.result('eth_getBlockByHash', hashOf(5), false)) as { hash: string }).hash,
    hashOf(5),
  );
  assert.equal(chain.asked.filter((call) => call.startsWith('eth_getBlockByHash')).length, 2);
});

test('the cache stays within its size', async (t) => {
  const { node, gateway } = await scripted(t, { cache_mb: 1 });
  node.misbehave({
    replace: (method, _, result) => (method === 'eth_getCode' ? `0x${'ab'.repeat(25_000)}` : result),
  });
  await learnFinality(gateway);
  for (let i = 0; i < 120; i++) await gateway.result('eth_getCode', ADDRESS, quantity(i >> 1));
  const bytes = await gateway.metric('atlas_rpc_cache_bytes');
  assert.ok(bytes > 800_000 && bytes <= 2 ** 20, `${bytes} bytes`);
  const asked = () =>
    node.requests.flatMap(({ calls }) => calls).filter(({ method }) => method === 'eth_getCode').length;
  await gateway.result('eth_getCode', ADDRESS, quantity(59));
  assert.equal(asked(), 120, 'the newest is there');
  await gateway.result('eth_getCode', ADDRESS, quantity(0));
  assert.equal(asked(), 121, 'the oldest has left');
});

test('an answer too large for the cache arrives whole, without proof', async (t) => {
  const { node, gateway } = await scripted(t, { cache_mb: 1 });
  await learnFinality(gateway);
  const long = `0x${'ab'.repeat(300_000)}`;
  let size = 1_000;
  node.misbehave({
    replace: (method, _, result) => (method === 'eth_getCode' ? long.slice(0, size) : result),
  });
  const ask = () => gateway.result('eth_getCode', ADDRESS, '0x1');
  assert.equal(await ask(), long.slice(0, size));
  size = long.length;
  assert.equal(await ask(), long);
  const batches = () =>
    node.requests.filter(({ calls }) => calls.length > 1 && calls[1]?.method === 'eth_getCode');
  assert.equal(batches().length, 1, 'it was requested with proof first');
  size = 2_000;
  assert.equal(await ask(), long.slice(0, size), 'nothing was kept');
});

test('when the node returns with another chain no answer about the previous one is served', async (t) => {
  const { node, chain, gateway } = await scripted(t);
  await learnFinality(gateway);
  await node.close();
  assert.equal((await gateway.call('eth_gasPrice')).status, 502);
  chain.branch = 'abc';
  await node.listen();
  await waitFor(async () => (await gateway.call('eth_gasPrice')).status === 200, {
    what: 'the node to be back',
  });
  for (let i = 0; i < 10; i++) {
    const { hash } = (await gateway.result('eth_getBlockByNumber', '0x1', false)) as { hash: string };
    assert.equal(hash, hashOf(1, 'abc'));
  }
  await learnFinality(gateway, 2);
  const { hash } = (await gateway.result('eth_getBlockByNumber', '0x1', false)) as { hash: string };
  assert.equal(hash, hashOf(1, 'abc'), 'nor when it is known again what is final');
});

test('an answer in flight when the chain was replaced is neither cached nor shared', async (t) => {
  const { node, chain, gateway } = await scripted(t, { development: true, allow: ['anvil_*'] });
  const replace = {
    abc: () => gateway.result('anvil_reset'),
    def: async () => {
      node.misbehave({ wire: { kind: 'reset' }, when: ({ method }) => method === 'eth_gasPrice' });
      assert.equal((await gateway.call('eth_gasPrice')).status, 502);
      node.misbehave({});
    },
  };
  let number = 5;
  for (const [branch, happen] of Object.entries(replace)) {
    const block = quantity(++number);
    const ask = async () =>
      ((await gateway.result('eth_getBlockByNumber', block, false)) as { hash: string }).hash;
    await learnFinality(gateway);
    const release = Promise.withResolvers<void>();
    chain.held.set(block, release.promise);
    const former = hashOf(number, chain.branch);
    const underWay = ask();
    const isAsked = () => chain.asked.includes(`eth_getBlockByNumber ["${block}",false]`);
    await waitFor(isAsked, { what: 'the call to be made' });
    chain.branch = branch;
    await happen();
    await learnFinality(gateway);
    chain.held.clear();
    // A shared answer would arrive only now.
    setTimeout(() => release.resolve(), 500);
    assert.equal(await ask(), hashOf(number, branch));
    assert.equal(await underWay, former);
    assert.equal(await ask(), hashOf(number, branch));
  }
});

test('nothing is cached while the node shows no head', async (t) => {
  const { node, gateway } = await scripted(t);
  node.misbehave({
    errorFor: {},
    replace: (method, [id], result) => (method === 'eth_getBlockByNumber' && id === 'latest' ? null : result),
  });
  const seen = new Set();
  for (let i = 0; i < 10; i++)
    seen.add(JSON.stringify(await gateway.result('eth_getBlockByNumber', '0x1', false)));
  assert.equal(seen.size, 10);
});

test('the head cache answers chain id, version and head', async (t) => {
  const { chain, gateway } = await scripted(t);
  const count = (method: string) => chain.asked.filter((call) => call.startsWith(method)).length;
  for (const method of ['eth_chainId', 'net_version', 'web3_clientVersion']) {
    const results = new Set();
    for (let i = 0; i < 50; i++) results.add(await gateway.result(method));
    assert.equal(results.size, 1);
    assert.equal(count(method), 1);
    assert.equal(await gateway.metric(`atlas_rpc_local_answers_total{method="${method}"}`), 49);
  }
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  for (let i = 0; i < 200; i++) {
    now++;
    assert.equal(await gateway.result('eth_blockNumber'), '0x64');
  }
  assert.equal(count('eth_blockNumber'), 20, 'once in ten milliseconds');
});

test('a new head shows at once after a transaction or an announcement, else within a moment', async (t) => {
  const { chain, gateway } = await scripted(t);
  const head = () => gateway.result('eth_blockNumber');
  assert.equal(await head(), '0x64');
  chain.head++;
  await gateway.result('eth_sendRawTransaction', '0x02');
  assert.equal(await head(), '0x65');
  chain.head++;
  gateway.handler.headChanged();
  assert.equal(await head(), '0x66');
  const block = (await gateway.result('eth_getBlockByNumber', 'latest', false)) as { number: string };
  assert.equal(block.number, '0x66');
  chain.head++;
  await new Promise((resolve) => setTimeout(resolve, 15));
  assert.equal(await head(), '0x67');
  assert.equal(
    ((await gateway.result('eth_getBlockByNumber', 'latest', false)) as { number: string }).number,
    '0x67',
  );
});

test('each cache can be disabled', async (t) => {
  const { node, chain, gateway } = await scripted(t, { merge: false, cache: false, local: false });
  for (let i = 0; i < 5; i++) await gateway.result('eth_chainId');
  for (let i = 0; i < 5; i++) await gateway.result('eth_getBlockByNumber', '0x1', false);
  node.misbehave({ delayMs: 20 });
  await Promise.all([1, 2, 3].map(() => gateway.result('eth_gasPrice')));
  assert.deepEqual(
    ['eth_chainId', 'eth_getBlockByNumber', 'eth_gasPrice'].map(
      (method) => chain.asked.filter((call) => call.startsWith(method)).length,
    ),
    [5, 5, 3],
  );
});

/** Every answer about a block or one of its transactions. */
async function views(
  ask: (method: string, ...params: unknown[]) => Promise<unknown>,
  block: Block,
): Promise<string[]> {
  const number = block.number;
  const [transaction] = block.transactions;
  return Promise.all(
    [
      ask('eth_blockNumber'),
      ask('eth_getBlockByNumber', 'latest', false),
      ask('eth_getBlockByNumber', number, true),
      ask('eth_getBlockByHash', block.hash, false),
      ask('eth_getBlockReceipts', number),
      ask('eth_getLogs', { fromBlock: number, toBlock: number }),
      ...(transaction === undefined
        ? []
        : [ask('eth_getTransactionReceipt', transaction), ask('eth_getTransactionByHash', transaction)]),
    ].map(async (answer) => JSON.stringify(await answer)),
  );
}

interface Block {
  number: string;
  hash: string;
  transactions: string[];
}

test('after reorganisations of a real chain no answer shows an orphaned block', async (t) => {
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  const gateway = startGateway(t, { url: anvil.url });
  const [from] = (await anvil.call('eth_accounts')) as string[];
  const pay = (value: number) =>
    anvil.call('eth_sendTransaction', [{ from, to: ADDRESS, value: quantity(value), gas: '0x5208' }]);
  const newest = async (): Promise<Block> =>
    (await anvil.call('eth_getBlockByNumber', ['latest', false])) as Block;
  await pay(7);
  await anvil.call('anvil_mine', ['0x1']);
  const known = [await newest()];
  await anvil.call('anvil_mine', ['0x60']);
  for (let round = 1; round <= 6; round++) {
    await pay(round);
    await anvil.call('anvil_mine', ['0x1']);
    known.push(await newest());
    await anvil.call('anvil_mine', ['0x2']);
    // Requested twice, so that cacheable answers are cached.
    for (const block of known) for (let i = 0; i < 2; i++) await views(gateway.result, block);
    await reorganise(anvil, 4);
    await new Promise((resolve) => setTimeout(resolve, 12)); // longer than any answer about the head is cached
    for (const block of known) {
      const direct = await views((method, ...params) => anvil.call(method, params), block);
      assert.deepEqual(await views(gateway.result, block), direct, `round ${round}, block ${block.number}`);
    }
  }
  assert.ok((await gateway.metric('atlas_rpc_cache_bytes')) > 0, 'something was kept');
});

async function reorganise(anvil: Anvil, depth: number): Promise<void> {
  await anvil.call('anvil_reorg', [depth, []]);
}
