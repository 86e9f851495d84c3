import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../src/bench/chain/generate.ts';
import { type LoadRules, loadBlocks } from '../../src/sync/load.ts';
import { RpcClient } from '../../src/upstream/client.ts';
import { type Faults, startMisbehavingNode } from '../support/misbehaving-node.ts';
import { resultOf, startNode } from '../support/replay.ts';

const TRACE = 'debug_traceBlockByNumber';
const RULES: LoadRules = { traces: TRACE, blockReceipts: true, monad: true, wrappedNative: new Set() };
/** The generator leaves one block in a hundred empty. */
const chain = [...generateChain({ seed: 7, blocks: 100, txPerBlock: 10 }).blocks];
const BLOCK = 3;
const EMPTY = chain.find(({ transfers }) => transfers.length === 0)?.number ?? 0;

type Answer = (method: string, params: unknown[]) => unknown;

/** A node that can be told to misbehave, and a client that asks it. `around` may hold an answer of the node back. */
async function setUp(t: TestContext, around: (answer: Answer) => Answer = (answer) => answer) {
  const replay = await startNode(t, { chain });
  const answer = around((method, params) => resultOf(replay.url, method, ...params));
  const node = await startMisbehavingNode({ answer });
  t.after(() => node.close());
  const client = new RpcClient({ url: node.url, timeoutMs: 5_000, maxSockets: 4, maxBatch: 10 });
  t.after(() => client.close());
  const load = (tracesAtOnce: boolean, number = BLOCK) =>
    loadBlocks(client, RULES, number, number, undefined, { tracesAtOnce });
  const asked = () => node.requests.flatMap(({ calls }) => calls.map(({ method }) => method));
  return { node, load, asked };
}

test('traces are asked for before receipts are answered, and give the same transfers', async (t) => {
  const traceAsked = Promise.withResolvers<void>();
  const { load } = await setUp(t, (answer) => async (method, params) => {
    if (method === TRACE) traceAsked.resolve();
    if (method === 'eth_getBlockReceipts') await traceAsked.promise;
    return answer(method, params);
  });
  const atOnce = await load(true);
  assert.deepEqual(atOnce, await load(false));
});

test('traces that are not asked for at once are asked for where they are needed', async (t) => {
  const { load, asked } = await setUp(t);
  await load(false, EMPTY);
  assert.ok(!asked().includes(TRACE));
  await load(false);
  assert.equal(asked().at(-1), TRACE);
});

const once: Partial<Faults> = { when: ({ method }) => method === TRACE, times: 1 };
const early: [what: string, faults: Partial<Faults>][] = [
  ['are not there yet', { ...once, nullFor: [TRACE] }],
  [
    'are refused',
    { ...once, errorFor: { [TRACE]: { code: -32_602, message: 'Block requested not found' } } },
  ],
];
for (const [what, faults] of early) {
  test(`traces that ${what} when asked for at once are asked for again`, async (t) => {
    const { node, load, asked } = await setUp(t);
    const apart = await load(false);
    const before = asked().length;
    node.misbehave(faults);
    assert.deepEqual(await load(true), apart);
    assert.equal(
      asked()
        .slice(before)
        .filter((method) => method === TRACE).length,
      2,
    );
  });
}

test('traces whose exchange fails are missed only where they are needed', async (t) => {
  const { node, load } = await setUp(t);
  node.misbehave({ when: ({ method }) => method === TRACE, wire: { kind: 'reset' } });
  await assert.rejects(load(true), { name: 'UpstreamError', reason: 'connection' });
  assert.equal((await load(true, EMPTY)).blockCount, 1);
});

test('traces that fail when asked for again fail the load', async (t) => {
  const { node, load } = await setUp(t);
  node.misbehave({ errorFor: { [TRACE]: { code: -32_603, message: 'traces not found' } } });
  await assert.rejects(load(true), /traces not found/);
});
