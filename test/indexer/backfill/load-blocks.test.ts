import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { generateChain } from '../../../scripts/simulator/chain/generate.ts';
import { type LoadRules, loadBlocks, loadRange } from '../../../src/indexer/backfill/load-blocks.ts';
import { RpcClient } from '../../../src/node/client.ts';
import { PLAIN_RULES } from '../../decode/plain.ts';
import { type Faults, startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { startNode } from '../../support/nodes/replay.ts';

const TRACE = 'debug_traceBlockByHash';
const RULES: LoadRules = { ...PLAIN_RULES, traces: TRACE, blockReceipts: true, monad: true };

/** The generator leaves one block in a hundred empty. */
const chain = [...generateChain({ seed: 7, blocks: 100, txPerBlock: 10 }).blocks];
const FULL = 3;
const EMPTY = chain.find(({ transfers }) => transfers.length === 0)?.number ?? 0;

/** A node that can misbehave on request, and a client of it. */
async function setUp(t: TestContext) {
  const replay = await startNode(t, { chain });
  const node = await startMisbehavingNode({ upstream: replay.url });
  t.after(() => node.close());
  const client = new RpcClient({ url: node.url, timeoutMs: 60_000, maxSockets: 4, maxBatch: 10 });
  t.after(() => client.close());
  const learned = { countsFailed: false, milliseconds: false, areReceiptsOdd: false };
  const load = (number: number, traces: LoadRules['traces'] = TRACE, last = number) =>
    loadBlocks(client, { ...RULES, traces, learned }, number, last);
  const asked = () => node.requests.flatMap(({ calls }) => calls.map(({ method }) => method));
  return { node, load, asked, learned, client };
}

test('traces are requested only where needed, so a node that cannot trace delays no other block', async (t) => {
  const { node, load, asked } = await setUp(t);
  node.misbehave({ when: ({ method }) => method === TRACE, wire: { kind: 'hang' } });
  assert.equal((await load(EMPTY)).blockCount, 1);
  assert.ok(!asked().includes(TRACE));
  node.misbehave({});
  assert.ok((await load(FULL)).transferCount > 0);
  assert.equal(asked().at(-1), TRACE);
});

/** The number of the block that a call is about. */
function blockOf(params: readonly unknown[]): number {
  const found = chain.find(
    ({ hash, number }) => params[0] === hash || params[0] === `0x${number.toString(16)}`,
  );
  return found?.number ?? -1;
}

test('only the part that one of several nodes lacks is requested again', async (t) => {
  const { node, load, asked } = await setUp(t);
  const last = FULL + 2;
  const usual = await load(FULL, TRACE, last);
  const methods = asked().sort();
  for (const lacking of ['eth_getBlockByNumber', 'eth_getBlockReceipts', TRACE]) {
    node.requests.length = 0;
    let isLacking = true;
    node.misbehave({
      replace(method, params, result) {
        if (method !== lacking || blockOf(params) !== last || !isLacking) return result;
        isLacking = false;
        return null;
      },
    });
    assert.deepEqual(await load(FULL, TRACE, last), usual, lacking);
    assert.deepEqual(asked().sort(), [...methods, lacking].sort(), lacking);
  }
});

test('a lagging node that sends its own head for a later block is asked again, and named if that lasts', async (t) => {
  const { node, load } = await setUp(t);
  const usual = await load(FULL);
  let left = 2;
  node.misbehave({
    replace: (method, params, result) =>
      method === 'eth_getBlockByNumber' && params[1] === true && left-- > 0
        ? { ...(result as object), number: '0x2' }
        : result,
  });
  assert.deepEqual(await load(FULL), usual);
  left = Number.POSITIVE_INFINITY;
  await assert.rejects(load(FULL), {
    name: 'MissingPart',
    message: /header of block 3 \(it sent block 2 instead of 3\)/,
  });
});

test('what is whole of a range is kept where the node lacks a later block', async (t) => {
  const { node, load, client } = await setUp(t);
  const usual = await load(FULL, TRACE, FULL + 1);
  for (const lacking of ['eth_getBlockByNumber', 'eth_getBlockReceipts']) {
    node.misbehave({
      replace: (method, params, result) =>
        (method === lacking && blockOf(params) === FULL + 2) || method === 'eth_getTransactionReceipt'
          ? null
          : result,
    });
    const range = await loadRange(client, RULES, FULL, FULL + 2);
    assert.deepEqual(range, [usual], lacking);
    await assert.rejects(load(FULL, TRACE, FULL + 2), /does not have the (header|receipts) of block 5/);
    await assert.rejects(loadRange(client, RULES, FULL + 2, FULL + 2), { name: /^Missing/ });
  }
});

test('a block whose traces the node refuses is a gap with all other transfers', async (t) => {
  const { node, load } = await setUp(t);
  const error = { code: -32_603, message: 'traces not found' };
  node.misbehave({ errorFor: { [TRACE]: error, debug_traceTransaction: error } });
  const batch = await load(FULL);
  assert.deepEqual(batch.gaps, [{ kind: 'trace', first: FULL, last: FULL, reason: 'traces not found' }]);
  assert.ok(batch.transferCount > 0);
});

test('a block that is too large for one answer of the node is named', async (t) => {
  const { node, load } = await setUp(t);
  node.misbehave({ when: ({ method }) => method === 'eth_getBlockByNumber', maxBytes: 1_000 });
  await assert.rejects(load(FULL, TRACE, FULL + 1), {
    reason: 'too-large',
    message: /^block 3: eth_getBlockByNumber: .*exceed/,
  });
});

test('tracing a transaction gets the client’s timeout, not geth’s default of 5 s', async (t) => {
  const { node, load } = await setUp(t);
  let takes = 30;
  node.misbehave({
    replace(method, params, result) {
      if (method !== TRACE && method !== 'debug_traceTransaction') return result;
      const { timeout = '5s' } = params[1] as { timeout?: string };
      if (takes <= Number(/^(\d+)s$/.exec(timeout)?.[1])) return result;
      return method === TRACE
        ? (result as { txHash: string }[]).map(({ txHash }) => ({ txHash, error: 'execution timeout' }))
        : null;
    },
  });
  assert.deepEqual((await load(FULL)).gaps, []);
  takes = 61;
  assert.equal((await load(FULL)).gaps.length, 1);
});

test('a range is refused when a block of it has another number or another parent, or is not there yet', async (t) => {
  const { node, load } = await setUp(t);
  const corrupt = (change: (block: object) => unknown) =>
    node.misbehave({
      replace: (method, params, result) =>
        method === 'eth_getBlockByNumber' && params[0] === '0x4' ? change(result as object) : result,
    });
  const range = () => load(FULL, null, FULL + 2);
  const batch = await range();
  assert.deepEqual([[...batch.number], batch.gaps.length], [[FULL, FULL + 1, FULL + 2], 1]);
  const inconsistent = { reason: 'inconsistent' };
  corrupt((block) => ({ ...block, parentHash: `0x${'5b'.repeat(32)}` }));
  await assert.rejects(range(), {
    ...inconsistent,
    message: /the node's block 4 is not a child of its block 3/,
  });
  corrupt((block) => ({ ...block, number: '0x9' }));
  await assert.rejects(range(), { ...inconsistent, message: /sent block 9 instead of 4/ });
  corrupt(() => null);
  await assert.rejects(range(), { ...inconsistent, message: /does not have the header of block 4, not yet/ });
});

test('call trees are requested by the hash of their block', async (t) => {
  const { node, load } = await setUp(t);
  await load(FULL);
  const traced = node.requests.flatMap(({ calls }) => calls).find(({ method }) => method === TRACE);
  assert.equal(traced?.params[0], chain.find(({ number }) => number === FULL)?.hash);
});

test('call trees requested by number count only if the node still has the block afterwards', async (t) => {
  const { node, load } = await setUp(t);
  assert.ok((await load(FULL, 'debug_traceBlockByNumber')).transferCount > 0);
  const sibling = `0x${'5b'.repeat(32)}`;
  node.misbehave({
    replace: (method, params, result) =>
      method === 'eth_getBlockByNumber' && params[1] === false
        ? { ...(result as object), hash: sibling }
        : result,
  });
  await assert.rejects(load(FULL, 'debug_traceBlockByNumber'), {
    reason: 'inconsistent',
    message: /changed while it was traced/,
  });
});

/** The blocks of these numbers as if in milliseconds. */
function inMilliseconds(isWanted: (number: number) => boolean): NonNullable<Faults['replace']> {
  return (method, _params, result) => {
    if (method !== 'eth_getBlockByNumber') return result;
    const block = result as { number: string; timestamp: string };
    if (!isWanted(Number(block.number))) return result;
    return { ...block, timestamp: `0x${(Number(block.timestamp) * 1_000 + 123).toString(16)}` };
  };
}

test('a block in milliseconds is malformed, at the head too, unless the whole chain is', async (t) => {
  const { node, load, asked, learned } = await setUp(t);
  const seconds = await load(FULL);
  assert.ok(!asked().includes('eth_blockNumber'), 'no other chain is asked');
  for (const bad of [FULL, chain.at(-1)!.number]) {
    node.misbehave({ replace: inMilliseconds((number) => number === bad) });
    await assert.rejects(load(bad), { reason: 'malformed', message: /is in milliseconds/ });
  }
  node.misbehave({ replace: inMilliseconds(() => true) });
  assert.deepEqual(await load(FULL), seconds);
  assert.equal(learned.milliseconds, true);
  assert.deepEqual((await load(FULL, TRACE, FULL + 1)).timestamp[0], seconds.timestamp[0]);
  assert.equal(asked().filter((method) => method === 'eth_blockNumber').length, 3, 'asked once');
});

const [HASH, OTHER] = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`];

test('a height without a block is told from a block that the node lacks', async (t) => {
  const { node, load } = await setUp(t);
  const [before, after] = [FULL - 1, FULL + 1];
  for (const sent of [null, { number: `0x${before.toString(16)}`, hash: HASH, transactions: [] }])
    for (const isSkipped of [true, false]) {
      node.misbehave({
        replace: (method, params, result) => {
          if (method !== 'eth_getBlockByNumber') return result;
          const number = Number(params[0]);
          if (number === before) return { number, hash: HASH, parentHash: OTHER };
          if (number === after) return { number, hash: OTHER, parentHash: isSkipped ? HASH : OTHER };
          return sent;
        },
      });
      const message = isSkipped
        ? /the chain has no block 3: block 4 is the child of block 2/
        : /does not have the header of block 3/;
      await assert.rejects(load(FULL), message);
    }
  const errorFor = { eth_getBlockByNumber: { code: 12, message: 'requested epoch was a null round (3)' } };
  node.misbehave({ errorFor });
  await assert.rejects(load(FULL), /block 3: eth_getBlockByNumber: requested epoch was a null round/);
});
