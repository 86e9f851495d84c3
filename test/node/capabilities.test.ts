import assert from 'node:assert/strict';
import { after, afterEach, describe, it } from 'node:test';
import { type Anvil, startAnvil } from '../../src/dev/anvil.ts';
import { FatalError, UpstreamError, type UpstreamFailure } from '../../src/lib/errors.ts';
import type { Capabilities } from '../../src/model/index-status.ts';
import { type ProbeOptions, probeCapabilities } from '../../src/node/capabilities.ts';
import { RpcClient } from '../../src/node/client.ts';
import { type MisbehavingNode, NodeError, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const AUTO: ProbeOptions = { traces: true, head: 'auto', finality: 'auto' };

/** A method's answer: a result, or a thrown error. */
type Answers = Record<string, (params: unknown[]) => unknown>;

/** A node of the named kind, with the wording of its source. */
const MONAD: Answers = {
  web3_clientVersion: () => 'Monad/0.16.0',
  eth_chainId: () => '0x8f',
  eth_blockNumber: () => '0x64',
  eth_getBlockByNumber: ([tag]) => ({
    number: tag === 'finalized' || tag === '0x62' ? '0x62' : '0x64',
    hash: HASH,
    parentHash: HASH,
    timestamp: '0x1',
  }),
  eth_getBlockReceipts: () => [],
  debug_traceBlockByNumber: () => [{ txHash: HASH, result: {} }],
  trace_block: throwing(-32601, 'Method not found'),
};
const GETH: Answers = {
  ...MONAD,
  web3_clientVersion: () => 'Geth/v1.17.5-stable/linux-amd64/go1.25',
  eth_chainId: () => '0x1',
  trace_block: throwing(-32601, 'the method trace_block does not exist/is not available'),
};

describe('probing a node', () => {
  const open: { close(): Promise<void> }[] = [];
  let node: MisbehavingNode;

  async function ask(answers: Answers, options = AUTO): Promise<Capabilities> {
    node = await startMisbehavingNode({
      answer: (method, params) => (answers[method] ?? throwing(-32601, 'Method not found'))(params),
    });
    open.push(node);
    return probeCapabilities(connect(node.url), options);
  }

  function connect(url: string): RpcClient {
    const client = new RpcClient({ url, timeoutMs: 5000, maxSockets: 4, maxBatch: 10 });
    open.push(client);
    return client;
  }

  /** The blocks requested from a method. */
  function asked(method: string): unknown[] {
    const calls = node.requests.flatMap((request) => request.calls);
    return calls.filter((call) => call.method === method).map(({ params }) => params[0]);
  }

  afterEach(async () => {
    for (const resource of open.splice(0).reverse()) await resource.close();
  });

  it('accepts a node that does not report its software', async () => {
    const { client, chainId, headTag, traces } = await ask({
      ...GETH,
      web3_clientVersion: throwing(-32601, 'Method not found'),
    });
    assert.equal(client, 'unnamed software');
    assert.deepEqual([chainId, headTag, traces], [1, 'latest', 'debug_traceBlockByNumber']);
  });

  it('finds Monad with stored call frames and follows its finalized blocks', async () => {
    assert.deepEqual(await ask(MONAD), {
      client: 'Monad/0.16.0',
      chainId: 143,
      traces: 'debug_traceBlockByNumber',
      tracesReason: null,
      blockReceipts: true,
      headTag: 'finalized',
    });
    assert.deepEqual(
      asked('debug_traceBlockByNumber'),
      ['0x62'],
      'a block below finalized, which is surely there',
    );
  });

  it('follows the latest block of other nodes by default', async () => {
    assert.equal((await ask(GETH)).headTag, 'latest');
    assert.equal((await ask(GETH, { ...AUTO, head: 'finalized' })).headTag, 'finalized');
    assert.equal((await ask(MONAD, { ...AUTO, head: 'latest' })).headTag, 'latest');
  });

  // The code was -32603 before v0.16.2.
  for (const code of [-32603, -32602, -32601, -32000, -32005, 3, 12345]) {
    it(`says that Monad keeps no call frames when it runs without --trace-calls, with code ${code}`, async () => {
      const capabilities = await ask({
        ...MONAD,
        debug_traceBlockByNumber: throwing(code, 'Internal error: traces not found'),
      });
      assert.equal(capabilities.traces, null);
      assert.match(
        capabilities.tracesReason ?? '',
        /start monad with --trace-calls.*does not offer trace_block/,
      );
    });

    it(`takes a block that the node lacks as proof that it offers the method, with code ${code}`, async () => {
      const missing = throwing(
        code,
        'Block requested not found. Request might be querying historical state that is not available',
      );
      const capabilities = await ask({
        ...MONAD,
        debug_traceBlockByNumber: missing,
        eth_getBlockReceipts: missing,
      });
      assert.equal(capabilities.traces, 'debug_traceBlockByNumber');
      assert.equal(capabilities.blockReceipts, true);
    });
  }

  for (const [code, message] of [
    [-32601, 'the method debug_traceBlockByNumber does not exist/is not available'],
    [-32601, 'Method not found'],
    [-32601, 'Method not supported'],
    [-32004, 'Unsupported method: debug_traceBlockByNumber'],
    [-32600, 'debug_traceBlockByNumber is not available on the Free tier'],
    [-32000, 'method debug_traceBlockByNumber is not allowed'],
    [
      -32600,
      'debug_traceBlockByNumber found but the containing module is disabled for the url http://0.0.0.0:8545',
    ],
  ] as const) {
    it(`takes "${message}" as not offered and goes on to trace_block`, async () => {
      const answers = { ...GETH, debug_traceBlockByNumber: throwing(code, message), trace_block: () => [] };
      assert.equal((await ask(answers)).traces, 'trace_block');
      const without = await ask({
        ...answers,
        trace_block: throwing(code, message.replace('debug_traceBlockByNumber', 'trace_block')),
      });
      assert.equal(without.traces, null);
      assert.match(
        without.tracesReason ?? '',
        /does not offer debug_traceBlockByNumber; .*does not offer trace_block/,
      );
    });
  }

  it('takes errors about the block, and null, as proof that the method is offered', async () => {
    const answers = [
      throwing(-32602, 'Block requested not found. Request might be querying historical state'),
      throwing(-32000, 'block #1 not found'),
      throwing(-32000, 'required historical state unavailable (reexec=128)'),
      throwing(-32603, 'response exceeds size limit'),
      () => null,
    ];
    for (const answer of answers) {
      const capabilities = await ask({
        ...GETH,
        debug_traceBlockByNumber: answer,
        eth_getBlockReceipts: answer,
      });
      assert.equal(capabilities.traces, 'debug_traceBlockByNumber');
      assert.equal(capabilities.blockReceipts, true);
    }
  });

  it('asks whether a node that refuses every block with the same words counts as one without traces', async () => {
    const refused: string[] = [];
    const options: ProbeOptions = { ...AUTO, onTracingRefused: (words) => refused.push(words) };
    const forbidden = throwing(-32000, 'tracing is forbidden here');
    const answers = { ...GETH, debug_traceBlockByNumber: forbidden };
    const { traces, tracesReason } = await ask(answers, options);
    assert.equal(traces, null);
    assert.match(
      tracesReason ?? '',
      /refuses every block: tracing is forbidden here; .*not offer trace_block/,
    );
    assert.deepEqual(refused, ['tracing is forbidden here']);
    assert.equal((await ask({ ...answers, trace_block: () => [] }, options)).traces, 'trace_block');
    assert.equal((await ask(answers)).traces, 'debug_traceBlockByNumber', 'nobody decides');

    const ofTheBlock = ([number]: unknown[]) => throwing(-32000, `block ${number} cannot be traced`)();
    const pruned = ([number]: unknown[]) =>
      number === '0x64' ? throwing(-32000, 'missing trie node')() : throwing(-32000, 'header not found')();
    const vague = throwing(-32603, 'internal error');
    for (const answer of [pruned, vague, () => null, () => []])
      assert.notEqual((await ask({ ...GETH, debug_traceBlockByNumber: answer }, options)).traces, null);
    assert.equal(refused.length, 1);
    assert.equal((await ask({ ...GETH, debug_traceBlockByNumber: ofTheBlock }, options)).traces, null);
  });

  it('needs no name of the software, however it is refused', async () => {
    for (const message of ['Method not found', 'forbidden by policy'])
      assert.equal(
        (await ask({ ...GETH, web3_clientVersion: throwing(-32000, message) })).client,
        'unnamed software',
      );
    for (const name of [null, '', { name: 'Geth' }])
      assert.equal((await ask({ ...GETH, web3_clientVersion: () => name })).client, 'unnamed software');
    for (const message of ['internal error', 'try again later']) {
      const answers = { ...GETH, web3_clientVersion: throwing(-32000, message) };
      await assert.rejects(ask(answers), UpstreamError);
      const refuse = (error: UpstreamError) => {
        throw error;
      };
      await assert.rejects(ask(answers, { ...AUTO, onUnnamed: refuse }), { code: -32000 });
      assert.equal((await ask(answers, { ...AUTO, onUnnamed: () => undefined })).client, 'unnamed software');
    }
  });

  it('asks for block 1 and never for block 0 at a node that has no other', async () => {
    const genesis = { number: '0x0', hash: HASH, parentHash: HASH, timestamp: '0x0' };
    const capabilities = await ask({
      ...GETH,
      eth_blockNumber: () => '0x0',
      eth_getBlockByNumber: () => genesis,
      eth_getBlockReceipts: () => null,
      debug_traceBlockByNumber: throwing(-32000, 'block #1 not found'),
    });
    assert.equal(capabilities.traces, 'debug_traceBlockByNumber');
    assert.deepEqual(asked('debug_traceBlockByNumber'), ['0x1']);
    assert.deepEqual(asked('eth_getBlockReceipts'), ['0x1']);
  });

  it('notices a node without eth_getBlockReceipts', async () => {
    const { eth_getBlockReceipts: _, ...answers } = GETH;
    const perTransaction = { ...answers, eth_getTransactionReceipt: () => null };
    assert.equal((await ask(perTransaction)).blockReceipts, false);
  });

  it('refuses a node that serves no receipts', async () => {
    const unknown = throwing(-32601, 'Method not found');
    const answers = { ...GETH, eth_getBlockReceipts: unknown, eth_getTransactionReceipt: unknown };
    await assert.rejects(ask(answers), (error) => {
      assert.ok(error instanceof UpstreamError);
      assert.match(
        error.message,
        /indexing needs receipts: .*eth_getBlockReceipts; .*eth_getTransactionReceipt$/,
      );
      return true;
    });
  });

  it('asks for no traces when they are switched off', async () => {
    const capabilities = await ask(MONAD, { ...AUTO, traces: false });
    assert.equal(capabilities.traces, null);
    assert.equal(capabilities.tracesReason, 'switched off by index.traces');
    assert.deepEqual(asked('debug_traceBlockByNumber'), []);
  });

  it('is fatal when finalized is configured and the node does not know the tag', async () => {
    const answers = { ...GETH, eth_getBlockByNumber: throwing(-32602, 'hex string without 0x prefix') };
    await assert.rejects(ask(answers, { ...AUTO, head: 'finalized' }), (error) => {
      assert.ok(error instanceof FatalError);
      assert.match(
        error.message,
        /index\.head is "finalized" but Geth\/.* does not know that tag: set index\.head to/,
      );
      return true;
    });
  });

  it('is retried when the node has no finalized block yet', async () => {
    for (const answer of [
      throwing(-39001, 'finalized block not found'),
      throwing(-32602, 'Block requested not found. Request might be querying historical state'),
      () => null,
    ]) {
      await assert.rejects(
        ask({ ...GETH, eth_getBlockByNumber: answer }, { ...AUTO, head: 'finalized' }),
        (error) => {
          assert.ok(error instanceof UpstreamError);
          assert.match(error.message, /index\.head is "finalized"/);
          return true;
        },
      );
    }
  });

  it('takes call trees by the hash of their block where the node finds it', async () => {
    const notFound = throwing(-32000, 'block not found');
    const traced = ([hash]: unknown[]) => (hash === HASH ? [] : notFound());
    const tracesWith = async (answers: Answers) => (await ask({ ...GETH, ...answers })).traces;
    assert.equal(await tracesWith({ debug_traceBlockByHash: traced }), 'debug_traceBlockByHash');
    assert.equal(await tracesWith({}), 'debug_traceBlockByNumber');
    for (const lost of [notFound, () => null])
      assert.equal(await tracesWith({ debug_traceBlockByHash: lost }), 'debug_traceBlockByNumber');
    const pruned = throwing(-32000, 'missing trie node');
    const both = { debug_traceBlockByNumber: pruned, debug_traceBlockByHash: notFound };
    assert.equal(await tracesWith(both), 'debug_traceBlockByHash', 'it found the block, and lacks its state');
  });

  it('goes on to trace_block where the node answers with opcodes or flat traces', async () => {
    for (const answer of [
      [{ gas: 1, structLogs: [] }],
      [{ txHash: HASH, result: { gas: 1, structLogs: [] } }],
      [{ txHash: HASH, result: [{ type: 'call', action: {}, traceAddress: [] }] }],
    ]) {
      const answers = { ...GETH, debug_traceBlockByNumber: () => answer };
      assert.equal((await ask({ ...answers, trace_block: () => [] })).traces, 'trace_block');
      const { traces, tracesReason } = await ask(answers);
      assert.equal(traces, null);
      assert.match(tracesReason ?? '', /does not know the callTracer; .*not offer trace_block/);
    }
  });

  it('asks without a timeout where the node refuses that option of the tracer', async () => {
    const strict = ([, options]: unknown[]) => {
      if (options !== null && typeof options === 'object' && 'timeout' in options)
        throwing(-32602, "Invalid parameter 'timeout' for TracerConfigWrapper")();
      return [];
    };
    const refused: string[] = [];
    const answers = { ...GETH, debug_traceBlockByNumber: strict, debug_traceBlockByHash: strict };
    const options = { ...AUTO, onTracingRefused: (words: string) => refused.push(words) };
    assert.equal((await ask(answers, options)).traces, 'debug_traceBlockByHash');
    assert.deepEqual(refused, []);
    assert.deepEqual(asked('debug_traceBlockByNumber'), ['0x64', '0x64'], 'once with it, once without');
    assert.deepEqual(asked('debug_traceBlockByHash'), [HASH]);
  });

  it('takes lists in objects', async () => {
    const inObject = { ...GETH, eth_getBlockReceipts: () => ({ receipts: [] }) };
    const wrapped = { ...inObject, debug_traceBlockByNumber: () => ({ blockHash: HASH, traces: [] }) };
    const { traces, blockReceipts } = await ask(wrapped);
    assert.deepEqual([traces, blockReceipts], ['debug_traceBlockByNumber', true]);
  });

  it('decides nothing from possibly transient answers', async () => {
    const wires: [UpstreamFailure, Parameters<MisbehavingNode['misbehave']>[0]][] = [
      ['connection', { wire: { kind: 'reset' } }],
      ['http', { wire: { kind: 'body', status: 502, text: '<html>bad gateway</html>' } }],
      ['malformed', { wire: { kind: 'body', status: 200, text: '<html>' } }],
      ['malformed', { replace: () => 'nonsense' }],
    ];
    await ask(GETH);
    for (const [reason, faults] of wires) {
      for (const method of [
        'debug_traceBlockByNumber',
        'eth_getBlockReceipts',
        'web3_clientVersion',
        'eth_blockNumber',
      ]) {
        if (method === 'web3_clientVersion' && faults.replace !== undefined) continue;
        node.misbehave({ ...faults, when: (call) => call.method === method });
        await assert.rejects(probeCapabilities(connect(node.url), AUTO), (error) => {
          assert.ok(error instanceof UpstreamError, String(error));
          assert.equal(error.reason, reason);
          return true;
        });
      }
    }
  });
});

describe('probing anvil', () => {
  let anvil: Anvil | undefined;
  after(() => anvil?.stop());

  it('prefers trace_block, at the first block as later', async () => {
    anvil = await startAnvil({ manual: true });
    const client = new RpcClient({ url: anvil.url, timeoutMs: 5000, maxSockets: 2, maxBatch: 10 });
    const expected = {
      client: await anvil.call('web3_clientVersion'),
      chainId: 31337,
      traces: 'trace_block',
      tracesReason: null,
      blockReceipts: true,
      headTag: 'latest',
    };
    assert.deepEqual(await probeCapabilities(client, AUTO), expected);
    await anvil.call('evm_mine');
    assert.deepEqual(await probeCapabilities(client, AUTO), expected);
    assert.equal((await probeCapabilities(client, { ...AUTO, head: 'finalized' })).headTag, 'finalized');
    await client.close();
  });
});

function throwing(code: number, message: string): () => never {
  return () => {
    throw new NodeError(code, message);
  };
}
