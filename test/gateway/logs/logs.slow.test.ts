import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { NodeError, startMisbehavingNode } from '../../support/nodes/misbehaving-node.ts';
import { waitFor } from '../../support/wait.ts';
import { startGateway, type TestGatewayOptions } from '../gateway.ts';

const quantity = (number: number) => `0x${number.toString(16)}`;

interface Chain {
  head: number;
  finalized: number;
  branch: number;
  /** Refuses an eth_getLogs by throwing. */
  refuse: (width: number, from: number) => void;
  /** Requested ranges, as written. */
  ranges: [unknown, unknown][];
  /** Most concurrent requests. */
  atOnce: number;
}

/** The head is final. */
const AT_ONCE = { rule: 'instant', maxReorg: 0 } as const;
/** Only the first blocks of the chain are final. */
const DEEP = { rule: 'depth', maxReorg: 4_900 } as const;

/** A node with two logs in each block, formatted unlike JSON.stringify. */
async function setUp(t: TestContext, options: Partial<TestGatewayOptions> = {}) {
  const chain: Chain = {
    head: 5_000,
    finalized: 5_000,
    branch: 0,
    refuse: () => undefined,
    ranges: [],
    atOnce: 0,
  };
  let asking = 0;
  const height = (id: unknown) =>
    id === 'latest' || id === undefined ? chain.head : id === 'finalized' ? chain.finalized : Number(id);
  const node = await startMisbehavingNode({
    async answer(method, params) {
      const [first = ''] = params as [(Record<string, unknown> & string) | undefined];
      const { fromBlock, toBlock, address }: Record<string, unknown> = Object(first);
      if (method === 'eth_blockNumber') return quantity(chain.head);
      if (method === 'eth_getBlockByNumber') {
        const number =
          first === 'finalized' ? chain.finalized : first === 'safe' ? chain.finalized : height(first);
        const hash = (at: number) => `0x${String(chain.branch)}${at.toString(16).padStart(63, '0')}`;
        return { number: quantity(number), hash: hash(number), parentHash: hash(number - 1) };
      }
      chain.ranges.push([fromBlock, toBlock]);
      asking++;
      chain.atOnce = Math.max(chain.atOnce, asking);
      await new Promise((resolve) => setImmediate(resolve));
      asking--;
      const [from, to] = [height(fromBlock), height(toBlock)];
      if (from > to) throw new NodeError(-32602, 'invalid block range params');
      chain.refuse(to - from + 1, from);
      return Array.from({ length: 2 * (to - from + 1) }, (_, i) => ({
        blockNumber: quantity(from + (i >> 1)),
        logIndex: quantity(i & 1),
        branch: chain.branch,
        address,
      }));
    },
  });
  t.after(() => node.close());
  const gateway = startGateway(t, {
    url: node.url,
    cache: false,
    local: false,
    finality: AT_ONCE,
    ...options,
  });
  const logs = async (fromBlock?: unknown, toBlock?: unknown, rest = {}) => {
    const { result, error } = await gateway.call('eth_getLogs', [{ ...rest, fromBlock, toBlock }]);
    if (error) return error;
    return (result as { blockNumber: string; logIndex: string }[]).map(
      ({ blockNumber, logIndex }) => 2 * Number(blockNumber) + Number(logIndex),
    );
  };
  return { node, chain, gateway, logs };
}

/** Numbers of all logs of a range. */
const expected = (from: number, to: number) =>
  Array.from({ length: 2 * (to - from + 1) }, (_, i) => 2 * from + i);
const tooWide = (limit: number, message: string) => (width: number) => {
  if (width > limit) throw new NodeError(-32602, message);
};

test('a client’s filter reaches the node unchanged, whatever characters it escapes', async (t) => {
  const { node, gateway } = await setUp(t);
  const quote = '\\u0122'; // its lower byte is a quotation mark
  const text = `${quote}}],${quote}method${quote}:${quote}admin_peers${quote},${quote}x${quote}:[{${quote}`;
  const answer = async (method: string, members: string) => {
    const filter = `{"address":"${text}\\ud83d\\ude00\\ud83d",${members}}`;
    const { body } = await gateway.answer(
      `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[${filter}]}`,
    );
    assert.match(String(body), /"result"/);
  };
  await answer('eth_getLogs', '"fromBlock":"0x1","toBlock":"0x2"');
  await answer('eth_getLogs', '"fromBlock":"0x1","toBlock":"0x2","topics":[null]');
  await answer('eth_getLogs', '"fromBlock":"0x1","toBlock":"0x200"');
  await answer('eth_newFilter', '"fromBlock":"0x1"');
  const asked = node.requests.flatMap(({ calls }) => calls);
  assert.deepEqual(
    asked
      .map(({ method }) => method)
      .filter((method) => !/^eth_(getLogs|blockNumber|getBlockByNumber)$/.test(method)),
    [],
  );
  const filters = asked
    .filter(({ method }) => method === 'eth_getLogs')
    .map(({ params }) => Object(params[0]));
  assert.ok(filters.length > 4, `${filters.length} filters`);
  const address = JSON.parse(`"${text}\\ud83d\\ude00\\ud83d"`);
  for (const filter of filters) assert.equal(filter.address, address);
});

test('a filter too long to repeat for each part of a range is sent once or refused', async (t) => {
  const { chain, logs } = await setUp(t);
  const of = (count: number) => ({ topics: [Array(count).fill(`0x${'1'.repeat(64)}`)] });
  assert.deepEqual(await logs('0x1', '0x2', of(10_000)), expected(1, 2));
  chain.ranges.length = 0;
  assert.deepEqual(await logs('0x1', '0x400', of(10_000)), {
    code: -32602,
    message: 'a filter of more than 400000 characters; name fewer addresses or topics',
  });
  assert.deepEqual(chain.ranges, []);
  assert.deepEqual(await logs('0x1', '0x400', of(1_000)), expected(1, 0x400));
});

test('a range that the node accepts is forwarded unchanged', async (t) => {
  const { node, gateway } = await setUp(t);
  for (const params of [
    '[{"fromBlock":"0x1","toBlock":"0x64"}]',
    '[{"fromBlock": "0x1", "toBlock": "0x64", "topics": [null, ["0xAB"]]}]',
    '[{"fromBlock":"latest","toBlock":"latest"}]',
    '[{"address":[]}]',
    '[{"blockHash":"0xabc"}]',
    '[{"fromBlock":"0x10","toBlock":"0x1"}]',
    '[{"fromBlock":16,"toBlock":17}]',
    '[{"fromBlock":1.5,"toBlock":-99999}]',
    '["nonsense"]',
    '[]',
  ]) {
    await gateway.answer(`{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":${params}}`);
    assert.equal(node.requests.length, 1, params);
    assert.deepEqual(node.requests.pop()?.calls[0]?.params, JSON.parse(params));
  }
});

test('requests exactly the validated range from the node', async (t) => {
  const { node, gateway } = await setUp(t);
  const ask = async (params: string) => {
    const request = `{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":${params}}`;
    const { error } = JSON.parse(String((await gateway.answer(request)).body));
    return error?.code ?? node.requests.pop()?.calls[0]?.params;
  };
  const range = '"fromBlock":"0x1","toBlock":"0x2"';
  const hash = `0x${'1'.repeat(64)}`;
  assert.equal(await ask(`[{${range},"FROMBLOCK":"0x0"}]`), -32602);
  assert.equal(await ask(`[{${range},"toBloc\u212a":"latest"}]`), -32602);
  assert.equal(await ask(`[{"blockHash":"${hash}","BlockHash":null}]`), -32602);
  assert.equal(await ask('[{"fromBlock":"0x0","toBlock":"latest"},null]'), -32602);
  assert.equal(await ask(`{"filter":{${range}}}`), -32602);
  assert.deepEqual(node.requests, []);
});

test('a filter selects the same logs as in a subscription', async (t) => {
  const { node, gateway } = await setUp(t);
  const [one, three] = [`0x${'1'.repeat(64)}`, `0x${'3'.repeat(64)}`];
  const sent = async (topics: unknown[]) => {
    const answer = await gateway.call('eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x1', topics }]);
    const [filter] = (node.requests.pop()?.calls[0]?.params ?? []) as { topics?: unknown }[];
    return filter?.topics ?? answer.error;
  };
  // geth requires as many topics of a log as the filter has positions, others do not.
  assert.deepEqual(await sent([one, null, null, null]), [one]);
  assert.deepEqual(await sent([[one], [], three, [], [one, null]]), {
    code: -32602,
    message: 'topics has more than 4 positions',
  });
  assert.deepEqual(await sent([[one], [], three, [one, null]]), [[one], [], three]);
  assert.deepEqual(await sent([[], null]), []);
  const { error } = await gateway.call('eth_getLogs', [{ fromblock: '0x1' }]);
  assert.deepEqual(error, {
    code: -32602,
    message:
      'unknown filter member "fromblock" (did you mean "fromBlock"?); ' +
      'the members are address, topics, fromBlock, toBlock, blockHash',
  });
  assert.deepEqual(node.requests, []);
});

test('an unknown member is refused in a batch too, and the other calls are answered', async (t) => {
  const { gateway } = await setUp(t);
  const range = { fromBlock: '0x1', toBlock: '0x2' };
  const filters = [range, { ...range, fromblock: '0x1' }, { ...range, limit: 5 }, range];
  const batch = filters.map((filter, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'eth_getLogs',
    params: [filter],
  }));
  const { body } = await gateway.answer(JSON.stringify(batch));
  const answers: { error?: { code: number; message: string } }[] = JSON.parse(String(body));
  assert.deepEqual(
    answers.map(({ error }) => error?.code),
    [undefined, -32602, -32602, undefined],
  );
  assert.match(answers[2]?.error?.message ?? '', /unknown filter member "limit"/);
});

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
  for (const message of [
    'block range extends beyond current head block',
    'Block requested not found',
    'rate limit',
  ]) {
    chain.refuse = () => {
      throw new NodeError(-32602, message);
    };
    assert.deepEqual(await logs('0x1', quantity(900)), { code: -32602, message });
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

test('logs of two branches are never mixed', async (t) => {
  const { chain, gateway } = await setUp(t, { finality: DEEP });
  let answered = 0;
  chain.refuse = () => {
    // The chain is reorganised during the first collection.
    if (++answered === 4) chain.branch = 1;
  };
  const result = (await gateway.result('eth_getLogs', { fromBlock: '0x1', toBlock: quantity(2_000) })) as {
    branch: number;
  }[];
  assert.equal(result.length, 4_000);
  assert.deepEqual([...new Set(result.map(({ branch }) => branch))], [1]);
});

test('logs of two branches are not mixed even if the few non-final blocks lie in two parts', async (t) => {
  const { chain, gateway } = await setUp(t, {
    cache: true,
    logs_max_range: 110,
    finality: { rule: 'depth', maxReorg: 50 },
  });
  chain.head = 2_000;
  const isKept = async () => {
    await gateway.result('eth_getBlockByNumber', '0x1', false);
    return (await gateway.metric('atlas_rpc_cache_hits_total{method="eth_getBlockByNumber"}')) > 0;
  };
  await waitFor(isKept, { what: 'the final block to be known' });
  let answered = 0;
  chain.refuse = () => {
    if (++answered === 2) chain.branch = 1;
  };
  const range = { fromBlock: quantity(1_891), toBlock: quantity(2_000) };
  const result = (await gateway.result('eth_getLogs', range)) as { branch: number }[];
  assert.equal(result.length, 220);
  assert.deepEqual([...new Set(result.map(({ branch }) => branch))], [1]);
});

test('does not mix logs of two branches while the node does not report its last block', async (t) => {
  const method = 'eth_getBlockByNumber';
  for (const [fault, message] of [
    [{ errorFor: { [method]: { code: -32005, message: 'busy' } } }, /upstream unavailable/],
    [{ nullFor: [method] }, /reorganised/],
  ] as const) {
    const { node, chain, logs } = await setUp(t, { finality: DEEP });
    let answered = 0;
    chain.refuse = () => {
      if (++answered === 4) chain.branch = 1;
    };
    node.misbehave({ ...fault, when: ({ params }) => params[0] === quantity(2_000) });
    const error = await logs('0x1', quantity(2_000));
    assert.match('message' in error ? error.message : 'logs', message);
  }
});

test('collecting logs gives up on a chain that keeps changing', async (t) => {
  const { chain, logs } = await setUp(t, { finality: DEEP });
  chain.refuse = () => {
    chain.branch = (chain.branch + 1) % 10;
  };
  const error = (await logs('0x1', quantity(2_000))) as { code: number; message: string };
  assert.deepEqual([error.code, error.message.slice(0, 27)], [-32603, 'the chain was reorganised w']);
});

test('caches parts below the finalized block, and then answers without the node', async (t) => {
  const { node, logs, gateway } = await setUp(t, { cache: true });
  await gateway.result('eth_getBlockByNumber', '0x1', false);
  for (let i = 0; i < 6; i++) assert.deepEqual(await logs('0x1', quantity(1_000)), expected(1, 1_000));
  const asked = () =>
    node.requests.flatMap(({ calls }) => calls).filter(({ method }) => method === 'eth_getLogs').length;
  const before = asked();
  assert.ok(before > 0);
  assert.deepEqual(await logs('0x1', quantity(1_000)), expected(1, 1_000));
  assert.equal(asked(), before);
});

test('every client waiting for logs gets an error when the node’s error is not JSON', {
  timeout: 10_000,
}, async (t) => {
  const { node, gateway } = await setUp(t);
  const ask = () => gateway.call('eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x64' }]);
  for (const error of ['{garbage}', '{"code":1},"error":null']) {
    const text = `{"jsonrpc":"2.0","id":1,"error":${error}}`;
    node.misbehave({ wire: { kind: 'body', status: 200, text }, delayMs: 20 });
    const asked = node.requests.length;
    for (const { status, error } of await Promise.all([ask(), ask()])) {
      assert.deepEqual([status, error], [502, { code: -32603, message: 'upstream unavailable' }]);
    }
    assert.equal(node.requests.length - asked, 2, 'one call for both, tried twice');
  }
});
