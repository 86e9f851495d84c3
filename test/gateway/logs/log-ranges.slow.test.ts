/** Ranges of logs that are split, found by trying, or refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeError } from '../../support/nodes/misbehaving-node.ts';
import { expected, quantity, setUp } from './log-chain.ts';

const tooWide = (limit: number, message: string) => (width: number) => {
  if (width > limit) throw new NodeError(-32602, message);
};

test('a wide range is fetched in parts and arrives in order, without gaps or repeats', async (t) => {
  const { chain, logs } = await setUp(t);
  assert.deepEqual(await logs('0x1', quantity(4_999)), expected(1, 4_999));
  assert.ok(chain.ranges.length > 8, `${chain.ranges.length} parts`);
  assert.ok(chain.atOnce > 1 && chain.atOnce <= 8, `${chain.atOnce} at once`);
  assert.deepEqual(await logs(quantity(17), quantity(1_000)), expected(17, 1_000));
});

test('a range refused in unknown words is split once narrower ranges work', async (t) => {
  const words = [
    'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.',
    'ranges over 10 blocks are not supported on freetier',
    'query must be smaller than size 10',
    'query block range over limit',
  ];
  for (const message of words) {
    const { chain, logs } = await setUp(t);
    chain.refuse = tooWide(10, message);
    assert.deepEqual(await logs('0x65', '0xc8'), expected(101, 200), message);
    const before = chain.ranges.length;
    assert.deepEqual(await logs('0x65', '0xc8'), expected(101, 200));
    assert.ok(chain.ranges.length - before <= 40, 'the limit is remembered');
    assert.deepEqual(await logs('0x1', quantity(500)), expected(1, 500));
  }
});

test('no more than eleven calls a minute look for a narrower range', async (t) => {
  const { chain, gateway } = await setUp(t);
  chain.refuse = (width, from) => {
    throw new NodeError(-32000, `no, ${'x'.repeat(from)} ${String.fromCharCode(96 + width)}`);
  };
  const ask = async (from: number) => {
    const filter = { fromBlock: quantity(from), toBlock: quantity(from + 1) };
    return (await gateway.call('eth_getLogs', [filter])).error?.code;
  };
  for (let from = 1; from <= 30; from++) assert.equal(await ask(from), -32000);
  assert.equal(chain.ranges.length, 30 + 11);
});

test('an error that a narrower range cannot mend is passed on at once', async (t) => {
  for (const [code, message] of [
    [-32005, 'daily budget spent'],
    [-32601, 'nothing of that kind'],
    [3, 'execution reverted'],
    [-32000, 'too many requests'],
  ] as const) {
    const { chain, logs } = await setUp(t);
    chain.refuse = () => {
      throw new NodeError(code, message);
    };
    assert.deepEqual(await logs('0x1', '0x40'), { code, message });
    assert.equal(chain.ranges.length, 1, message);
  }
});

test('tags and missing ends mean what they mean to the node', async (t) => {
  const { chain, logs } = await setUp(t);
  chain.head = 1_050;
  chain.finalized = 700;
  assert.deepEqual(await logs('earliest', 'latest'), expected(0, 1_050));
  assert.ok(
    chain.ranges.some(([, to]) => to === 'latest'),
    'the end is whatever it is when the node is asked',
  );
  assert.deepEqual(await logs('0x64'), expected(100, 1_050));
  assert.deepEqual(await logs('0x64', 'finalized'), expected(100, 700));
  assert.deepEqual(await logs('finalized', 'latest'), expected(700, 1_050));
});

test('a tag without a block is left to the node', async (t) => {
  const { node, chain, gateway } = await setUp(t);
  node.misbehave({ nullFor: ['eth_getBlockByNumber'], when: ({ params }) => params[0] === 'finalized' });
  chain.refuse = () => {
    throw new NodeError(-32000, 'finalized block not found');
  };
  const { error } = await gateway.call('eth_getLogs', [{ fromBlock: 'finalized', toBlock: 'latest' }]);
  assert.deepEqual(error, { code: -32000, message: 'finalized block not found' });
  assert.deepEqual(chain.ranges, [['finalized', 'latest']]);
});

test('a range beyond the limit is refused with one that works', async (t) => {
  const { chain, node, logs } = await setUp(t, { logs_max_range: 1_000 });
  assert.deepEqual(await logs('0x10', quantity(4_000)), {
    code: -32602,
    message: 'block range too large',
    data: { maxRange: 1_000, fromBlock: '0x10', toBlock: quantity(0x10 + 999) },
  });
  assert.equal(node.requests.filter(({ calls }) => calls[0]?.method === 'eth_getLogs').length, 0);
  assert.deepEqual(await logs('0x10', quantity(0x10 + 999)), expected(0x10, 0x10 + 999));
  chain.head = 3_000;
  for (const [from, to] of [
    ['0x10', quantity(0x10 + 1_000)],
    ['0x1', quantity(9_999)],
    ['0x1', '0xffffffffffffffff'],
    ['0X1', '0XBB8'],
    [1, 3_000],
    ['1', ' 3000 '],
    ['EARLIEST', 'Latest'],
  ] as const) {
    assert.equal(((await logs(from, to)) as { code?: number }).code, -32602, `${from} to ${to}`);
  }
  assert.equal(((await logs('0x1', '0xbb8', { blockHash: '' })) as { code?: number }).code, -32602);
  chain.head = 900;
  assert.deepEqual(await logs('0x1', 'latest'), expected(1, 900));
});

test('the width that the node accepts is found by trying', async (t) => {
  const { chain, logs } = await setUp(t);
  chain.refuse = tooWide(1_001, 'block range too large');
  for (let i = 0; i < 5; i++) assert.deepEqual(await logs('0x1', quantity(4_999)), expected(1, 4_999));
  chain.ranges = [];
  assert.deepEqual(await logs('0x1', quantity(4_999)), expected(1, 4_999));
  assert.ok(chain.ranges.length <= 8, `${chain.ranges.length} parts once it is known`);
});

for (const [what, limit, message] of [
  ['Monad', 50, 'block range too large'],
  ['geth', 30, 'exceed maximum block range 30'],
  ['reth', 70, 'query exceeds max block range 70'],
  ['a hosted node', 10, 'eth_getLogs is limited to a 10 range'],
  ['Monad by size', 33, 'response exceeds size limit'],
  ['reth by results', 40, 'query exceeds max results 20000, retry with the range 1-40'],
  ['a hosted node by results', 25, 'query returned more than 10000 results'],
] as const) {
  test(`a range that is too much for the node is halved: ${what}`, async (t) => {
    const { chain, logs } = await setUp(t);
    chain.refuse = tooWide(limit, message);
    assert.deepEqual(await logs('0x1', quantity(300)), expected(1, 300));
    assert.deepEqual(await logs('0x1', '0x50'), expected(1, 80), 'also where it was not split at first');
    assert.ok(chain.ranges.length < 120, `${chain.ranges.length} parts`);
  });
}

test('an error that does not refuse the range is passed on', async (t) => {
  const { chain, logs } = await setUp(t);
  for (const [message, data] of [
    ['block range extends beyond current head block'],
    ['Block requested not found'],
    ['rate limit', { upstream: true, retryAfter: 1 }],
  ] as const) {
    chain.refuse = () => {
      throw new NodeError(-32602, message);
    };
    const error = { code: -32602, message, ...(data && { data }) };
    assert.deepEqual(await logs('0x1', quantity(900)), error);
  }
});

test('the block that is too much for the node is named', async (t) => {
  const { chain, logs } = await setUp(t);
  chain.refuse = (width, from) => {
    if (from <= 27 && from + width > 27) throw new NodeError(-32602, 'response exceeds size limit');
  };
  const message = 'response exceeds size limit';
  assert.deepEqual(await logs('0x1', '0x50'), { code: -32602, message: `${message} (block 27 alone)` });
  assert.deepEqual(await logs('0x1b', '0x1b'), { code: -32602, message });
});

test('a node that fails in the middle fails the call', async (t) => {
  const { node, logs } = await setUp(t);
  node.misbehave({
    wire: { kind: 'reset' },
    when: ({ method, params }) =>
      method === 'eth_getLogs' && Number((params as { fromBlock: string }[])[0]?.fromBlock) > 600,
  });
  assert.deepEqual(await logs('0x1', quantity(900)), { code: -32603, message: 'upstream unavailable' });
});

test('more logs than fit are refused with a range that works', async (t) => {
  const { logs } = await setUp(t);
  const error = (await logs('0x1', quantity(3_000), { address: 'ab'.repeat(4_000) })) as {
    code: number;
    data: { maxBytes: number; fromBlock: string; toBlock: string };
  };
  assert.equal(error.code, -32602);
  assert.equal(error.data.fromBlock, '0x1');
  const works = Number(error.data.toBlock);
  assert.ok(works > 500 && works < 3_000, `up to ${works}`);
  assert.deepEqual(
    await logs('0x1', error.data.toBlock, { address: 'ab'.repeat(4_000) }),
    expected(1, works),
  );
});
