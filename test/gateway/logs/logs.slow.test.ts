import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../support/wait.ts';
import { expected, quantity, setUp } from './log-chain.ts';

/** Only the first blocks of the chain are final. */
const DEEP = { rule: 'depth', maxReorg: 4_900 } as const;

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
