/** What a filter is refused, forgets and survives, and the libraries that use it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Contract, JsonRpcProvider } from 'ethers';
import { createPublicClient, http } from 'viem';
import { foundry } from 'viem/chains';
import contracts from '../../../src/dev/contracts.json' with { type: 'json' };
import { serve } from '../../server/serving.ts';
import { type NodeCall, startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { waitFor } from '../../support/wait.ts';
import { startGateway } from '../gateway.ts';
import { changes, type Log, setUp, values, WRAPPED } from './filter-chain.ts';

test('a filter returns nothing outside its range', async (t) => {
  const { gateway, anvil, address, mine, deposit } = await setUp(t);
  const head = Number(await anvil.call('eth_blockNumber'));
  const filter = {
    address,
    fromBlock: `0x${(head + 2).toString(16)}`,
    toBlock: `0x${(head + 3).toString(16)}`,
  };
  const id = await gateway.result('eth_newFilter', filter);
  for (let value = 1; value <= 4; value++) {
    await deposit(value);
    await mine();
  }
  assert.deepEqual(values(await changes(gateway, id)), [2, 3]);
});

test('eth_getFilterLogs gives all logs of the filter, and only of a filter of logs', async (t) => {
  const { gateway, address, mine, deposit } = await setUp(t);
  await deposit(1);
  await mine();
  const id = await gateway.result('eth_newFilter', { address, fromBlock: '0x0' });
  await deposit(2);
  await mine();
  assert.deepEqual(values((await gateway.result('eth_getFilterLogs', id)) as Log[]), [1, 2]);
  assert.deepEqual(values(await changes(gateway, id)), [2]);
  const blocks = await gateway.result('eth_newBlockFilter');
  assert.deepEqual((await gateway.call('eth_getFilterLogs', [blocks])).error, {
    code: -32000,
    message: 'filter not found',
  });
});

test('a filter belongs to its key, and is gone once it is uninstalled', async (t) => {
  const { gateway } = await setUp(t);
  const id = await gateway.result('eth_newBlockFilter');
  const unknown = { code: -32000, message: 'filter not found' };
  assert.deepEqual((await gateway.call('eth_getFilterChanges', [id], 2)).error, unknown);
  assert.equal((await gateway.call('eth_uninstallFilter', [id], 2)).result, false);
  const spelled = `0x00${String(id).slice(2).toUpperCase()}`; // any spelling of the quantity
  assert.deepEqual((await gateway.call('eth_getFilterChanges', [spelled])).result, []);
  assert.equal(await gateway.result('eth_uninstallFilter', spelled), true);
  assert.equal(await gateway.result('eth_uninstallFilter', id), false);
  assert.deepEqual((await gateway.call('eth_getFilterChanges', [id])).error, unknown);
  for (const nonsense of [undefined, null, 7, {}, '0x1']) {
    assert.deepEqual((await gateway.call('eth_getFilterChanges', [nonsense])).error, unknown);
  }
});

test('a key has sixty-four filters, and those not polled for five minutes are forgotten', async (t) => {
  let now = 0;
  const { gateway } = await setUp(t, { clock: () => now });
  const first = await gateway.result('eth_newBlockFilter');
  for (let i = 1; i < 64; i++) await gateway.result('eth_newBlockFilter');
  assert.equal((await gateway.call('eth_newBlockFilter')).error?.code, -32005);
  assert.equal((await gateway.call('eth_newFilter', [{}])).error?.code, -32005);
  assert.match(String((await gateway.call('eth_newBlockFilter', [], 2)).result), /^0x/, 'of another key');
  now += 4 * 60_000;
  await gateway.result('eth_getFilterChanges', first);
  now += 61_000;
  await gateway.result('eth_newBlockFilter');
  assert.deepEqual(await gateway.result('eth_getFilterChanges', first), [], 'polled in time');
  now += 5 * 60_000 + 1;
  assert.equal((await gateway.call('eth_getFilterChanges', [first])).error?.code, -32000);
});

test('a filter that the node does not understand is refused with the message of the node', async (t) => {
  const { gateway, anvil } = await setUp(t);
  const filter = { address: '0x1234' };
  const message = await anvil.call('eth_getLogs', [filter]).then(String, (error: Error) => error.message);
  const { error } = await gateway.call('eth_newFilter', [filter]);
  assert.ok(error !== undefined && message.endsWith(error.message), `${error?.message} is not in ${message}`);
  const ofOneBlock = { blockHash: `0x${'11'.repeat(32)}` };
  for (const nonsense of [undefined, 'x', [], ofOneBlock, { fromblock: '0x1' }, { topics: Array(5) }]) {
    assert.equal((await gateway.call('eth_newFilter', [nonsense])).error?.code, -32602);
  }
});

test('accepts a filter up to the limit of geth and refuses a larger one', async (t) => {
  const { gateway, address } = await setUp(t);
  const filled = (count: number, bytes: number) =>
    Array.from({ length: count }, (_, i) => `0x${i.toString(16).padStart(2 * bytes, '0')}`);
  const topics = Array.from({ length: 4 }, () => filled(1_000, 32));
  assert.equal(
    typeof (await gateway.result('eth_newFilter', { address: filled(1_000, 20), topics })),
    'string',
  );
  const { error } = await gateway.call('eth_newFilter', [{ address: [address, ...filled(9_000, 20)] }]);
  assert.deepEqual([error?.code, error?.message.includes('400000')], [-32602, true]);
});

test('a filter that missed too much is lost, not silently incomplete', async (t) => {
  const chain = await startPlainChain(t, 105);
  const gateway = startGateway(t, { url: chain.node.url });
  const id = await gateway.result('eth_newBlockFilter');
  chain.head += 4_200;
  assert.equal((await gateway.call('eth_getFilterChanges', [id])).error?.code, -32000);
});

test('a chain set back below every known block is followed from there once the index was rolled back', async (t) => {
  const { gateway, anvil, address, mine, deposit, newestHashes } = await setUp(t);
  const snapshot = await anvil.call('evm_snapshot');
  await mine(60);
  const old = await gateway.result('eth_newBlockFilter'); // knows only the last blocks
  await anvil.call('evm_revert', [snapshot]);
  assert.deepEqual(await gateway.result('eth_getFilterChanges', old), [], 'the node may only be behind');
  gateway.chain.noteRollback(1);
  const error = (await gateway.call('eth_getFilterChanges', [old])).error;
  assert.deepEqual([error?.code, error?.message], [-32000, 'filter not found']);
  const blocks = await gateway.result('eth_newBlockFilter');
  const logs = await gateway.result('eth_newFilter', { address });
  await deposit(5);
  await mine(2);
  assert.deepEqual(await gateway.result('eth_getFilterChanges', blocks), await newestHashes(2));
  assert.deepEqual(values(await changes(gateway, logs)), [5]);
});

test('contract.on of ethers and watchContractEvent of viem work over HTTP', async (t) => {
  // Hooks run in registration order, and clients must end before the servers they talk to.
  const clients: (() => void)[] = [];
  t.after(() => {
    for (const end of clients) end();
  });
  const { anvil, address, mine, deposit } = await setUp(t);
  const { server, key, metrics } = await serve(t, { upstream: anvil.url });
  const url = `${server.url}/rpc?api_key=${key}`;

  const provider = new JsonRpcProvider(url, foundry.id, { staticNetwork: true, cacheTimeout: -1 });
  provider.pollingInterval = 20;
  // Destroying a provider in the middle of a poll makes it poll forever; pausing it does not.
  clients.push(() => provider.pause());
  const byEthers: number[] = [];
  const contract = new Contract(address, contracts.DemoWrapped.abi, provider);
  await contract.on('Deposit', (_, wad: bigint) => byEthers.push(Number(wad)));

  const client = createPublicClient({ chain: foundry, transport: http(url), pollingInterval: 20 });
  const byViem: number[] = [];
  const blocks: bigint[] = [];
  clients.push(
    client.watchContractEvent({
      address,
      abi: WRAPPED,
      eventName: 'Deposit',
      onLogs: (logs) => byViem.push(...logs.map(({ args }) => Number(args.wad))),
    }),
    client.watchBlockNumber({ onBlockNumber: (number) => blocks.push(number) }),
  );

  const installed = async () =>
    /atlas_rpc_requests_total\{method="eth_newFilter",status="200"\} 2/.test(await metrics.render());
  await waitFor(installed, { what: 'both clients to install their filter' });
  // The chain grows constantly, as real ones do: ethers polls once per new block and does not notice blocks mined
  // meanwhile.
  const mineUntil = (done: () => boolean, what: string) =>
    waitFor(() => mine().then(done), { what, everyMs: 50 });
  await mineUntil(() => blocks.length > 5, 'blocks to be noticed');
  for (let value = 1; value <= 5; value++) {
    await deposit(value);
    await mine();
  }
  await mineUntil(() => byEthers.length >= 5 && byViem.length >= 5, 'the events');
  const all = [1, 2, 3, 4, 5];
  assert.deepEqual([byEthers, byViem], [all, all]);
});

/** A node whose blocks consist only of numbers, and whose head the test sets. */
async function startPlainChain(t: TestContext, head: number) {
  const node = await startMisbehavingNode({
    answer(method, [id]) {
      if (method === 'eth_getLogs') return [];
      const number = id === 'latest' ? chain.head : Number(id);
      return {
        number: `0x${number.toString(16)}`,
        hash: plainHash(number),
        parentHash: plainHash(number - 1),
      };
    },
  });
  t.after(() => node.close());
  const chain = { node, head };
  return chain;
}

function plainHash(number: number): string {
  return `0x${number.toString(16).padStart(64, '0')}`;
}

test('a client gets an error when the node does not report its head, and misses nothing', async (t) => {
  const chain = await startPlainChain(t, 105);
  const { node } = chain;
  const gateway = startGateway(t, { url: node.url });
  const unavailable = { code: -32603, message: 'upstream unavailable' };
  const method = 'eth_getBlockByNumber';
  const faults = [{ errorFor: { [method]: { code: -32005, message: 'busy' } } }, { nullFor: [method] }];
  for (const fault of faults) {
    node.misbehave(fault);
    const installs = ['eth_newFilter', 'eth_newBlockFilter'];
    const answers = await Promise.all(installs.map((install) => gateway.call(install, [{}])));
    for (const { status, error } of answers) assert.deepEqual([status, error], [502, unavailable]);
  }
  const asked = node.requests.flatMap(({ calls }) => calls.map((call) => call.method));
  assert.ok(!asked.includes('eth_getLogs'), 'a block that nobody knows was not asked about');

  node.misbehave({});
  const id = await gateway.result('eth_newBlockFilter');
  chain.head = 107;
  for (const fault of faults) {
    node.misbehave(fault);
    assert.equal((await gateway.call('eth_getFilterChanges', [id])).status, 502);
  }
  node.misbehave({});
  assert.deepEqual(await gateway.result('eth_getFilterChanges', id), [plainHash(106), plainHash(107)]);
});

test('a known block that the node briefly omits does not count as orphaned', async (t) => {
  const chain = await startPlainChain(t, 105);
  const { node } = chain;
  const gateway = startGateway(t, { url: node.url });
  const id = await gateway.result('eth_newBlockFilter');
  const method = 'eth_getBlockByNumber';
  const once = { when: ({ params }: NodeCall) => params[0] === '0x69', times: 1 };

  chain.head = 107;
  node.misbehave({ ...once, errorFor: { [method]: { code: -32000, message: 'no such thing' } } });
  assert.equal((await gateway.call('eth_getFilterChanges', [id])).status, 502);
  // As if another node behind the same address, a few blocks behind, had answered once.
  node.misbehave({ ...once, nullFor: [method] });
  assert.deepEqual(await gateway.result('eth_getFilterChanges', id), [plainHash(106), plainHash(107)]);
  assert.deepEqual(await gateway.result('eth_getFilterChanges', id), []);
});
