/**
 * Senders and receivers come from a node that is slow, refuses, forgets or restarts, and never stay unknown for that.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { UpstreamError } from '../../../src/lib/errors.ts';
import { isObject } from '../../../src/lib/text.ts';
import type { RpcCall, RpcReply } from '../../../src/node/client.ts';
import { TransactionParties } from '../../../src/streams/transfers/transaction-parties.ts';
import { waitFor } from '../../support/wait.ts';

const FROM = `0x${'Aa'.repeat(20)}`;
const TO = `0x${'bb'.repeat(20)}`;
const CREATED = `0x${'cc'.repeat(20)}`;
const ZERO = `0x${'00'.repeat(20)}`;
const PARTIES = { parties: { from: 'aa'.repeat(20), to: 'bb'.repeat(20) }, reason: null };
const BLOCK = 'b1';

/** Answers one call. */
type Answer = (method: string, param: unknown) => RpcReply | Promise<RpcReply>;

const knows: Answer = (_method, hash) => ({ result: { hash, from: FROM, to: TO } });

/** The transactions of a name with a dot share a block. */
const blockOf = (hash: string) => (hash.includes('.') ? 'dense' : BLOCK.concat(hash));

interface Node {
  batch(calls: readonly RpcCall[], signal?: AbortSignal): Promise<RpcReply[]>;
}

/** A node, the batches of calls it received, and the parties under test. */
function setUp(context: TestContext, answer: Answer, batch?: Node['batch']) {
  const asked: string[][] = [];
  const node: Node = {
    batch: async (calls, signal) => {
      asked.push(calls.map(({ method, params }) => `${method} ${params[0]}`));
      if (batch !== undefined) return batch(calls, signal);
      return Promise.all(calls.map(({ method, params }) => answer(method, params[0])));
    },
  };
  const parties = new TransactionParties(node);
  const alive = setInterval(() => undefined, 1_000); // retries alone do not keep the process running
  context.after(() => {
    clearInterval(alive);
    parties.close();
  });
  const all = async (hashes: readonly string[]) => {
    for (;;) {
      const found = hashes.map((hash) => parties.get(hash, blockOf(hash)));
      if (!found.includes(undefined)) return found;
      await parties.nextSettled();
    }
  };
  return { parties, asked, all };
}

test('requests each transaction once, in batches, and creations by their receipt', async (context) => {
  const receivers: Record<string, unknown> = {
    '0xcreation': null,
    '0xempty': '',
    '0xnothing': '0x',
    '0xzero': ZERO,
    '0xburn': ZERO,
  };
  const { all, asked } = setUp(context, (method, hash) => {
    if (method === 'eth_getTransactionReceipt')
      return { result: { contractAddress: hash === '0xburn' ? null : CREATED } };
    const to = receivers[String(hash)];
    return { result: { from: FROM, to: to === undefined ? TO : to } };
  });
  const [call, again, ...created] = await all([
    'call',
    'call',
    'creation',
    'empty',
    'nothing',
    'zero',
    'burn',
  ]);
  assert.deepEqual([call, again], [PARTIES, PARTIES]);
  assert.deepEqual(
    created.map((lookup) => lookup?.parties?.to),
    [...Array(4).fill('cc'.repeat(20)), '00'.repeat(20)],
  );
  assert.deepEqual(
    asked.map((calls) => calls.length),
    [6, 5],
  );
});

test('thousands of transactions go out in a few batches at a time', async (context) => {
  let inFlight = 0;
  let most = 0;
  const { all, asked } = setUp(context, knows, async (calls) => {
    most = Math.max(most, ++inFlight);
    await new Promise(setImmediate);
    inFlight--;
    return calls.map(({ method, params }) => knows(method, params[0]) as RpcReply);
  });
  const found = await all(Array.from({ length: 3_000 }, (_, i) => `t${i}`));
  assert.ok(found.every((lookup) => lookup?.reason === null));
  assert.deepEqual([asked.length, most], [30, 6]);
});

test('while a batch is in flight, the next one fills up, but not for long', async (context) => {
  let answer = () => {};
  const answering = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { all, parties, asked } = setUp(context, knows, async (calls) => {
    await answering;
    return calls.map(({ method, params }) => knows(method, params[0]) as RpcReply);
  });
  const first = all(['first']);
  await waitFor(() => asked.length === 1, { what: 'a first batch' });
  parties.get('second', blockOf('second'));
  setImmediate(() => parties.get('third', blockOf('third')));
  await waitFor(() => asked.length === 2, { what: 'a batch that did not wait for the first one' });
  answer();
  await first;
  assert.deepEqual(
    asked.map(({ length }) => length),
    [1, 2],
  );
});

test('many transactions of one block are read with the block, and what it lacks by hash', async (context) => {
  const hashes = Array.from({ length: 80 }, (_, i) => `t.${i}`);
  const transactions = hashes.slice(1).map((hash) => ({ hash: `0x${hash}`, from: FROM, to: TO }));
  const { all, asked } = setUp(context, (method, hash) =>
    method === 'eth_getBlockByHash' ? { result: { transactions } } : knows(method, hash),
  );
  assert.ok((await all(hashes)).every((lookup) => lookup?.reason === null));
  assert.deepEqual(asked, [['eth_getBlockByHash 0xdense'], ['eth_getTransactionByHash 0xt.0']]);
});

test('a transaction that the node no longer finds is read from its block', async (context) => {
  const transactions = [
    { hash: '0xOLD', from: FROM, to: TO },
    { hash: '0xother', from: TO, to: TO },
  ];
  const { all, asked } = setUp(context, (method, hash) => {
    if (method === 'eth_getBlockByHash') return { result: { transactions } };
    if (hash === '0xmoved') return { result: { from: FROM, to: TO, blockHash: '0xb2' } };
    return { error: new UpstreamError('rpc', 'transaction indexing is in progress') };
  });
  const [old, moved, other] = await all(['old', 'moved', 'other']);
  assert.deepEqual([old, moved, other?.parties?.from], [PARTIES, PARTIES, 'bb'.repeat(20)]);
  assert.deepEqual(
    asked[1],
    ['old', 'moved', 'other'].map((hash) => `eth_getBlockByHash 0x${blockOf(hash)}`),
  );
});

test('a transaction that the node lacks is requested again, then reported as unknown to the node', async (context) => {
  let answers = 0;
  const { all, parties } = setUp(context, (method) => {
    if (method === 'eth_getBlockByHash') return { result: null };
    answers++;
    return { error: new UpstreamError('rpc', 'history is pruned') };
  });
  const [lookup] = await all(['gone']);
  assert.deepEqual(lookup, {
    parties: null,
    reason: 'the node returns neither the transaction nor its block: history is pruned',
  });
  assert.equal(answers, 3);
  const { now } = performance;
  context.mock.method(performance, 'now', () => now.call(performance) + 11_000);
  assert.equal(parties.get('gone', blockOf('gone')), undefined, 'a later lookup requests it again');
});

test('a node that restarts while it is asked leaves nothing unknown', async (context) => {
  let failures = 12;
  const { all } = setUp(context, knows, async (calls) => {
    if (failures-- > 0) throw new UpstreamError('connection', 'ECONNREFUSED');
    return calls.map(({ method, params }) => knows(method, params[0]) as RpcReply);
  });
  const found = await all(Array.from({ length: 300 }, (_, i) => `t${i}`));
  assert.ok(found.every((lookup) => lookup?.reason === null));
});

test('a node that is too slow for a whole batch gets smaller ones', async (context) => {
  context.mock.method(AbortSignal, 'timeout', () => new AbortController().signal);
  const sizes: number[] = [];
  const { all } = setUp(context, knows, async (calls) => {
    sizes.push(calls.length);
    if (calls.length > 8) throw new DOMException('timed out', 'TimeoutError');
    return calls.map(({ method, params }) => knows(method, params[0]) as RpcReply);
  });
  const found = await all(Array.from({ length: 200 }, (_, i) => `t${i}`));
  assert.ok(found.every((lookup) => lookup?.reason === null));
  assert.ok(sizes.some((size) => size <= 8) && sizes.length < 200, sizes.join());
});

test('a node that is silent for 15 s leaves them unknown, and is asked again later', async (context) => {
  let isSilent = true;
  let time = 0;
  const { now } = performance;
  context.mock.method(performance, 'now', () => now.call(performance) + time);
  const { parties, all, asked } = setUp(context, knows, async (calls) => {
    time += 4_000;
    if (isSilent) throw new UpstreamError('timeout', 'no answer');
    return calls.map(({ method, params }) => knows(method, params[0]) as RpcReply);
  });
  const found = await all(['a', 'b']);
  const silent = { parties: null, reason: 'the node has not answered for 15 s' };
  assert.deepEqual(found, [silent, silent]);
  const before = asked.length;
  assert.deepEqual(
    parties.get('c', blockOf('c')),
    silent,
    'a silent node does not get a request per transaction',
  );
  assert.equal(asked.length, before);
  isSilent = false;
  time += 60_000;
  assert.deepEqual(await all(['a', 'b', 'c']), [PARTIES, PARTIES, PARTIES]);
});

test('answers that name no addresses are no answers', async (context) => {
  const { all } = setUp(context, (method, hash) => {
    if (method === 'eth_getBlockByHash') return { result: { transactions: [null, { hash: 5 }] } };
    if (method === 'eth_getTransactionReceipt') return { result: 'none' };
    return { result: hash === '0xfrom' ? { to: TO } : { from: FROM, to: isObject(hash) ? TO : null } };
  });
  const reasons = (await all(['from', 'to'])).map((lookup) => lookup?.reason);
  assert.match(reasons[0] ?? '', /does not name the sender/);
  assert.match(reasons[1] ?? '', /does not name the receiver/);
});

test('without a node that answers, whoever waits is told when it is closed', async (context) => {
  const { parties } = setUp(context, () => new Promise(() => undefined));
  parties.get('call', BLOCK);
  let isTold = false;
  void parties.nextSettled().then(() => {
    isTold = true;
  });
  parties.close();
  await waitFor(() => isTold, { what: 'the end of the wait', everyMs: 1 });
});
