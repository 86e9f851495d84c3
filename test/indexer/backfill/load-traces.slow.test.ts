/** Blocks whose traces the node does not give as one list, in order. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../../scripts/simulator/chain/generate.ts';
import { type LoadRules, loadBlocks, loadRange } from '../../../src/indexer/backfill/load-blocks.ts';
import { RpcClient } from '../../../src/node/client.ts';
import { PLAIN_RULES } from '../../decode/plain.ts';
import { NodeError, startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { startNode } from '../../support/nodes/replay.ts';

const BLOCK = 'debug_traceBlockByHash';
const ALONE = 'debug_traceTransaction';
const RULES: LoadRules = { ...PLAIN_RULES, traces: BLOCK, blockReceipts: true, monad: true };
const CHAIN = [...generateChain({ seed: 7, blocks: 12, txPerBlock: 10 }).blocks];
const BAD = 5;
const HASH = CHAIN.find(({ number }) => number === BAD)?.hash;

type Item = { txHash: string; result: object };
type Answer = (items: Item[]) => unknown;

/**
 * A client of a node. `block` answers for the traces of block BAD, `alone` for those of a single transaction of it.
 */
async function setUp(t: TestContext, answers: { block: Answer; alone?: (result: unknown) => unknown }) {
  const replay = await startNode(t, { chain: CHAIN });
  const node = await startMisbehavingNode({ upstream: replay.url });
  t.after(() => node.close());
  node.misbehave({
    replace(method, params, result) {
      if (method === BLOCK && params[0] === HASH) return answers.block(result as Item[]);
      return method === ALONE && answers.alone ? answers.alone(result) : result;
    },
  });
  const client = new RpcClient({ url: node.url, timeoutMs: 60_000, maxSockets: 4, maxBatch: 10 });
  const good = new RpcClient({ url: replay.url, timeoutMs: 60_000, maxSockets: 4, maxBatch: 10 });
  t.after(() => Promise.all([client.close(), good.close()]));
  return {
    load: (from = BAD, to = BAD) => loadRange(client, RULES, from, to),
    whole: (from = BAD, to = BAD) => loadBlocks(client, RULES, from, to),
    right: (from = BAD, to = BAD) => loadBlocks(good, RULES, from, to),
  };
}

const refuse = (message: string) => () => {
  throw new NodeError(-32_000, message);
};

/** Leaves out a successful transaction that ran code. */
const without: Answer = (items) =>
  items.toSpliced(
    items.findIndex(({ result }) => 'calls' in result && !('error' in result)),
    1,
  );

const RECOVERABLE: Record<string, Answer> = {
  'refuses the block': refuse('tracing failed: nonce too high: address 0xab, tx: 1050 state: 1041'),
  'leaves a transaction out': without,
  'lists the traces in another order': (items) => items.toReversed(),
  'sends an error for one': ([first, ...rest]) => [{ txHash: first?.txHash, error: 'no' }, ...rest],
  'sends opcodes for one': ([first, ...rest]) => [
    { txHash: first?.txHash, result: { gas: 0, failed: false, returnValue: '', structLogs: [] } },
    ...rest,
  ],
  'adds a trace of no listed transaction': (items) => [
    ...items,
    { ...items[0], txHash: `0x${'77'.repeat(32)}` },
  ],
  'answers null': () => null,
};

for (const [what, block] of Object.entries(RECOVERABLE))
  test(`a node that ${what}, and traces each transaction alone, costs no transfer`, async (t) => {
    const { load, right } = await setUp(t, { block });
    const batches = await load(BAD - 2, BAD + 2);
    assert.deepEqual(batches, [await right(BAD - 2, BAD + 2)]);
  });

test('a block is alone in its batch while traces are missing, and lacks those of one transaction', async (t) => {
  const { load, whole, right } = await setUp(t, {
    block: without,
    alone: refuse('transaction 0xabcdef not found'),
  });
  const batches = await load(BAD - 2, BAD + 2);
  assert.deepEqual(
    batches.map((batch) => [[...batch.number], batch.unsettled?.isReasoned ?? null]),
    [
      [[BAD - 2, BAD - 1], null],
      [[BAD], true],
      [[BAD + 1, BAD + 2], null],
    ],
  );
  const [, bad] = batches;
  assert.deepEqual(bad?.gaps, [{ kind: 'trace', first: BAD, last: BAD, reason: 'transaction … not found' }]);
  const complete = await right();
  assert.ok(bad.transferCount > 0 && bad.transferCount <= complete.transferCount);
  const one = await whole(BAD - 2, BAD + 2);
  assert.deepEqual([one.blockCount, one.gaps, one.unsettled], [5, bad.gaps, null]);
  assert.equal(
    one.transferCount,
    batches.reduce((sum, { transferCount }) => sum + transferCount, 0),
  );
});

const REASONS: [block: Answer, alone: (result: unknown) => unknown, isReasoned: boolean][] = [
  [refuse('nonce too high'), refuse('nonce too high'), true],
  [refuse('historical state not available in path scheme yet'), refuse('missing trie node 8f…'), true],
  [without, () => ({ gas: 0, failed: false, returnValue: '', structLogs: [] }), true],
  [refuse('nonce too high'), () => null, false],
  [() => null, refuse('nonce too high'), false],
  [refuse('internal error'), refuse('nonce too high'), false],
  [refuse('execution timeout'), refuse('execution timeout'), false],
  [refuse('header not found'), refuse('context deadline exceeded'), false],
  [refuse('too many requests'), refuse('nonce too high'), false],
  [refuse('dial tcp 10.0.0.1:8545: connection refused'), refuse('nonce too high'), false],
];

test('only a reason of the node, given for the block and for each transaction alone, counts as one', async (t) => {
  for (const [block, alone, isReasoned] of REASONS) {
    const { load } = await setUp(t, { block, alone });
    const [batch] = await load();
    assert.equal(batch?.unsettled?.isReasoned, isReasoned, `${batch?.unsettled?.message}`);
  }
});

test('a node that breaks the connection for one block fails for that block alone', async (t) => {
  const replay = await startNode(t, { chain: CHAIN });
  const node = await startMisbehavingNode({ upstream: replay.url });
  t.after(() => node.close());
  node.misbehave({ when: ({ method }) => method.startsWith('debug_trace'), wire: { kind: 'reset' } });
  const client = new RpcClient({ url: node.url, timeoutMs: 60_000, maxSockets: 4, maxBatch: 10 });
  t.after(() => client.close());
  const [batch] = await loadRange(client, RULES, BAD, BAD);
  assert.equal(batch?.unsettled?.isReasoned, false);
  await assert.rejects(loadRange(client, RULES, BAD, BAD + 3), { reason: 'connection' });
});

test('a node that traces none of several blocks is failing, which says nothing about a block', async (t) => {
  const replay = await startNode(t, { chain: CHAIN });
  const node = await startMisbehavingNode({ upstream: replay.url });
  t.after(() => node.close());
  node.misbehave({ nullFor: [BLOCK, ALONE] });
  const client = new RpcClient({ url: node.url, timeoutMs: 60_000, maxSockets: 4, maxBatch: 10 });
  t.after(() => client.close());
  await assert.rejects(loadRange(client, RULES, BAD, BAD + 3), { reason: 'inconsistent' });
});
