/** The gateway's filters, on a real chain that is reorganised. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Contract, JsonRpcProvider } from 'ethers';
import { createPublicClient, createWalletClient, http, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { type Anvil, startAnvil } from '../../../src/dev/anvil.ts';
import contracts from '../../../src/dev/contracts.json' with { type: 'json' };
import type { Hex } from '../../../src/lib/hex.ts';
import { serve } from '../../server/serving.ts';
import { type NodeCall, startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { waitFor } from '../../support/wait.ts';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../gateway.ts';

const TO = `0x${'22'.repeat(20)}` as const;
const SECRET: Hex = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const WRAPPED = parseAbi(['function deposit() payable', 'event Deposit(address indexed dst, uint256 wad)']);

interface Log {
  blockHash: string;
  blockNumber: string;
  data: string;
  removed: boolean;
}

interface Chain {
  anvil: Anvil;
  gateway: TestGateway;
  /** The contract that emits a log for each deposit. */
  address: Hex;
  deposit(value: number): Promise<void>;
  mine(blocks?: number): Promise<void>;
  reorganise(depth: number): Promise<void>;
  newestHashes(count: number): Promise<string[]>;
}

async function setUp(t: TestContext, options: Partial<TestGatewayOptions> = {}): Promise<Chain> {
  const anvil = await startAnvil({ manual: true });
  t.after(() => anvil.stop());
  const gateway = startGateway(t, { url: anvil.url, ...options });
  const account = privateKeyToAccount(SECRET);
  const wallet = createWalletClient({ account, chain: foundry, transport: http(anvil.url) });
  const mine = async (blocks = 1) => {
    await anvil.call('anvil_mine', [`0x${blocks.toString(16)}`]);
    gateway.handler.headChanged();
  };
  const hash = await wallet.deployContract({ abi: WRAPPED, bytecode: contracts.DemoWrapped.bytecode as Hex });
  await mine();
  const { contractAddress } = (await anvil.call('eth_getTransactionReceipt', [hash])) as {
    contractAddress: Hex;
  };
  await mine(40);
  return {
    anvil,
    gateway,
    address: contractAddress,
    mine,
    async deposit(value) {
      await wallet.writeContract({
        address: contractAddress,
        abi: WRAPPED,
        functionName: 'deposit',
        value: BigInt(value),
        gas: 100_000n,
      });
    },
    async reorganise(depth) {
      await anvil.call('anvil_reorg', [depth, []]);
      gateway.handler.headChanged();
    },
    async newestHashes(count) {
      const head = Number(await anvil.call('eth_blockNumber'));
      const blocks = Array.from({ length: count }, (_, i) => `0x${(head - count + 1 + i).toString(16)}`);
      return Promise.all(
        blocks.map(
          async (id) => ((await anvil.call('eth_getBlockByNumber', [id, false])) as { hash: string }).hash,
        ),
      );
    },
  };
}

async function changes(gateway: TestGateway, id: unknown): Promise<Log[]> {
  return (await gateway.result('eth_getFilterChanges', id)) as Log[];
}

/** Values of deposits; negative for removed ones. */
const values = (logs: readonly Log[]) => logs.map(({ data, removed }) => Number(data) * (removed ? -1 : 1));

test('a block filter gives each new block once, in order', async (t) => {
  const { gateway, mine, newestHashes } = await setUp(t);
  const id = await gateway.result('eth_newBlockFilter');
  assert.match(String(id), /^0x[0-9a-f]{32}$/);
  assert.deepEqual(await gateway.result('eth_getFilterChanges', id), []);
  for (const count of [1, 3, 50]) {
    await mine(count);
    assert.deepEqual(await gateway.result('eth_getFilterChanges', id), await newestHashes(count));
    assert.deepEqual(await gateway.result('eth_getFilterChanges', id), []);
  }
});

test('a poll whose client disconnects loses no changes', async (t) => {
  const { gateway, mine, newestHashes } = await setUp(t);
  const id = await gateway.result('eth_newBlockFilter');
  await mine(3);
  const left = new AbortController();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getFilterChanges', params: [id] });
  const poll = gateway.answer(body, {}, left.signal);
  left.abort(new Error('left'));
  await assert.rejects(poll, /left/);
  assert.deepEqual(await gateway.result('eth_getFilterChanges', id), await newestHashes(3));
});

test('a poll sees the current state of the node, whatever the head cache holds', async (t) => {
  const { anvil, gateway, newestHashes } = await setUp(t);
  const id = await gateway.result('eth_newBlockFilter');
  for (let i = 0; i < 20; i++) {
    const early = gateway.result('eth_getFilterChanges', id);
    await anvil.call('anvil_mine', ['0x1']);
    const late = gateway.result('eth_getFilterChanges', id);
    assert.deepEqual([await early, await late].flat(), await newestHashes(1));
  }
});

test('after a reorganisation a block filter gives the blocks of the new chain', async (t) => {
  const { gateway, mine, reorganise, newestHashes } = await setUp(t);
  const id = await gateway.result('eth_newBlockFilter');
  await mine(5);
  await gateway.result('eth_getFilterChanges', id);
  await reorganise(3);
  assert.deepEqual(await gateway.result('eth_getFilterChanges', id), await newestHashes(3));
  await reorganise(2);
  await mine(2);
  await reorganise(1);
  assert.deepEqual(
    await gateway.result('eth_getFilterChanges', id),
    await newestHashes(4),
    'only what stayed',
  );
});

test('a log filter gives new logs that match, each once', async (t) => {
  const { gateway, address, mine, deposit } = await setUp(t);
  await deposit(1);
  await mine();
  const id = await gateway.result('eth_newFilter', { address });
  const others = await gateway.result('eth_newFilter', { address: TO });
  const topic = await gateway.result('eth_newFilter', { topics: [`0x${'00'.repeat(32)}`] });
  assert.deepEqual(await changes(gateway, id), []);
  await deposit(2);
  await mine();
  await deposit(3);
  await deposit(4);
  await mine(120);
  assert.deepEqual(values(await changes(gateway, id)), [2, 3, 4]);
  assert.deepEqual(await changes(gateway, id), []);
  assert.deepEqual(await changes(gateway, others), []);
  assert.deepEqual(await changes(gateway, topic), []);
  await deposit(5);
  await mine();
  assert.deepEqual(values(await changes(gateway, id)), [5]);
});

test('logs of orphaned blocks are repeated as removed, followed by those of the new chain', async (t) => {
  const { anvil, gateway, address, mine, deposit, reorganise } = await setUp(t);
  const id = await gateway.result('eth_newFilter', { address });
  await deposit(1);
  await mine();
  await deposit(2);
  await mine();
  await deposit(3);
  await mine(2);
  const before = await changes(gateway, id);
  assert.deepEqual(values(before), [1, 2, 3]);

  await reorganise(3); // the block of 3, the next block, and the block of 2
  const direct = (await anvil.call('eth_getLogs', [{ address, fromBlock: '0x1' }])) as Log[];
  const after = await changes(gateway, id);
  const kept = new Set(direct.map(({ blockHash }) => blockHash));
  const gone = before.filter(({ blockHash }) => !kept.has(blockHash));
  assert.ok(gone.length > 0);
  assert.deepEqual(
    after.filter(({ removed }) => removed),
    gone.map((log) => ({ ...log, removed: true })),
  );
  const added = after.filter(({ removed }) => !removed);
  assert.deepEqual([...before.filter(({ blockHash }) => kept.has(blockHash)), ...added], direct);
  assert.deepEqual(after, [...after.filter(({ removed }) => removed), ...added], 'what is gone comes first');
  assert.deepEqual(await changes(gateway, id), []);
});

test('a result too large for one poll continues in the next ones, without logs orphaned meanwhile', async (t) => {
  const { anvil, gateway, address, mine, deposit, reorganise } = await setUp(t, { logs_max_range: 2 });
  const id = await gateway.result('eth_newFilter', { address });
  const depositInTurn = async (count: number) => {
    for (let value = 1; value <= count; value++) {
      await deposit(value);
      await mine();
    }
  };
  await depositInTurn(5);
  assert.deepEqual(values(await changes(gateway, id)), [1, 2]);
  assert.deepEqual(values(await changes(gateway, id)), [3]);
  assert.deepEqual(values(await changes(gateway, id)), [4, 5]);
  assert.deepEqual(await changes(gateway, id), []);

  await depositInTurn(5);
  const told = await changes(gateway, id);
  assert.deepEqual(values(told), [1, 2]);
  await reorganise(4); // of the blocks of 1 to 5 only the first stays
  const later: Log[] = [];
  for (let polls = 0; polls < 5; polls++) later.push(...(await changes(gateway, id)));
  const removed = later.filter((log) => log.removed);
  assert.deepEqual(removed, [{ ...told[1], removed: true }]);
  const fromBlock = told[0]!.blockNumber;
  const direct = (await anvil.call('eth_getLogs', [{ address, fromBlock }])) as Log[];
  assert.deepEqual([told[0], ...later.filter((log) => !log.removed)], direct);
});

test('logs that appeared and vanished between two polls are not reported', async (t) => {
  const { gateway, address, mine, deposit, reorganise, anvil } = await setUp(t);
  const id = await gateway.result('eth_newFilter', { address });
  await deposit(1);
  await mine();
  await reorganise(1);
  await mine();
  const direct = (await anvil.call('eth_getLogs', [{ address, fromBlock: '0x1' }])) as Log[];
  assert.deepEqual(await changes(gateway, id), direct);
});

test('a node that briefly lags removes no logs', async (t) => {
  const { gateway, anvil, address, mine, deposit } = await setUp(t);
  const id = await gateway.result('eth_newFilter', { address });
  await deposit(1);
  await mine(3);
  const snapshot = await anvil.call('evm_snapshot');
  await mine(2);
  assert.deepEqual(values(await changes(gateway, id)), [1]);
  await anvil.call('evm_revert', [snapshot]);
  gateway.handler.headChanged();
  assert.deepEqual(await changes(gateway, id), []);
  await mine(4);
  assert.deepEqual(await changes(gateway, id), []);
  await deposit(2);
  await mine();
  assert.deepEqual(values(await changes(gateway, id)), [2]);
});

test('a filter can be installed while the node is behind', async (t) => {
  const { gateway, anvil, address, mine, deposit } = await setUp(t);
  const snapshot = await anvil.call('evm_snapshot');
  await mine(2);
  await gateway.result('eth_newBlockFilter');
  await anvil.call('evm_revert', [snapshot]);
  const id = await gateway.result('eth_newFilter', { address });
  await deposit(1);
  await mine();
  assert.deepEqual(values(await changes(gateway, id)), [1]);
});

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
