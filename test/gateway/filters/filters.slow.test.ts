/** The gateway's filters, on a real chain that is reorganised. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changes, type Log, setUp, values } from './filter-chain.ts';

const TO = `0x${'22'.repeat(20)}` as const;

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
