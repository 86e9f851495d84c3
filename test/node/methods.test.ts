import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { UpstreamError } from '../../src/lib/errors.ts';
import { RpcClient } from '../../src/node/client.ts';
import {
  blockCall,
  fetchBlockNumber,
  fetchChainId,
  fetchClientVersion,
  fetchHeader,
  receiptCall,
  receiptsCall,
  traceCall,
  traceTransactionCall,
} from '../../src/node/methods.ts';
import { type MisbehavingNode, startMisbehavingNode } from '../support/nodes/misbehaving-node.ts';

const HASH = `0x${'Ab'.repeat(32)}` as const;
const BLOCK = { number: '0x7', hash: HASH, parentHash: HASH, timestamp: '0x6566d1a0', transactions: [] };

describe('typed methods', () => {
  let node: MisbehavingNode;
  let client: RpcClient;

  before(async () => {
    node = await startMisbehavingNode();
    client = new RpcClient({ url: node.url, timeoutMs: 20_000, maxSockets: 1, maxBatch: 1 });
  });
  after(async () => {
    await client.close();
    await node.close();
  });

  function answer(result: unknown): void {
    node.misbehave({ replace: () => result });
  }

  it('reduce texts of the node to one line without control characters', async () => {
    const words = 'Geth\x1b[2J\x07/1\nnext\u2028\x9b31mline';
    answer(words);
    assert.equal(await fetchClientVersion(client), 'Geth [2J /1 next 31mline');
    const isOneLine = ({ message }: Error) => message.includes('Geth') && !/[\p{Cc}\p{Zl}]/u.test(message);
    await assert.rejects(fetchChainId(client), isOneLine);
    node.misbehave({ errorFor: { eth_chainId: { code: -32000, message: words } } });
    await assert.rejects(fetchChainId(client), isOneLine);
    node.misbehave({ wire: { kind: 'body', status: 502, text: words } });
    await assert.rejects(fetchChainId(client), isOneLine);
  });

  it('take the id of the network where a node has no eth_chainId', async () => {
    const errorFor = { eth_chainId: { code: -32601, message: 'the method eth_chainId does not exist' } };
    node.misbehave({ replace: () => '5151', errorFor });
    assert.equal(await fetchChainId(client), 5151);
    node.misbehave({ errorFor: { ...errorFor, net_version: { code: -32601, message: 'no such method' } } });
    await assert.rejects(fetchChainId(client), /the method eth_chainId does not exist/);
    node.misbehave({ replace: () => '0x7', errorFor: { eth_chainId: { code: -32603, message: 'busy' } } });
    await assert.rejects(fetchChainId(client), /busy/);
  });

  it('truncate an endless software name', async () => {
    answer(`Geth/${'1'.repeat(100_000)}`);
    assert.equal(await fetchClientVersion(client), `Geth/${'1'.repeat(195)}`);
  });

  it('read quantities, texts and headers', async () => {
    answer('0xC7443C1D3C61E');
    assert.equal(await fetchChainId(client), 0xc7443c1d3c61e);
    answer('0x0');
    assert.equal(await fetchBlockNumber(client), 0);
    answer('Monad/0.16.0');
    assert.equal(await fetchClientVersion(client), 'Monad/0.16.0');
    answer(BLOCK);
    const expected = {
      number: 7,
      hash: HASH.toLowerCase(),
      parentHash: HASH.toLowerCase(),
    };
    assert.deepEqual(await fetchHeader(client, 7), expected);
    assert.deepEqual(await fetchHeader(client, 'finalized'), expected);
    assert.deepEqual(
      node.requests.slice(-2).map(({ calls }) => calls[0]?.params),
      [
        ['0x7', false],
        ['finalized', false],
      ],
    );
    answer(null);
    assert.equal(await fetchHeader(client, 'latest'), null);
  });

  it('name the method and the field of a value with a wrong type', async () => {
    for (const value of [
      null,
      -7,
      1.5,
      '7x',
      '',
      '0x',
      '0xg',
      '0x20000000000000',
      '0x1234567890abcdef',
      {},
      [],
      true,
    ]) {
      answer(value);
      await malformed(fetchChainId(client), /^eth_chainId: malformed answer: result is /);
      await malformed(fetchBlockNumber(client), /^eth_blockNumber: malformed answer: result is /);
    }
    answer(['Monad']);
    assert.equal(await fetchClientVersion(client), null, 'a name that is none');
    for (const value of ['0x', 3, [BLOCK], true]) {
      answer(value);
      await malformed(
        fetchHeader(client, 7),
        /^eth_getBlockByNumber: malformed answer: result is .* not a block/,
      );
    }
    for (const field of ['number', 'hash', 'parentHash']) {
      for (const value of [undefined, null, 7.5, '', `${HASH}00`, HASH.replace('A', 'x')]) {
        answer({ ...BLOCK, [field]: value });
        await malformed(
          fetchHeader(client, 7),
          new RegExp(`^eth_getBlockByNumber: malformed answer: ${field} is `),
        );
      }
    }
  });

  it('accept a quantity in any spelling and a hash in any case', async () => {
    for (const value of ['0x07', '0X7', '7', 7]) {
      answer(value);
      assert.equal(await fetchBlockNumber(client), 7);
      answer({ ...BLOCK, number: value, hash: BLOCK.hash.toUpperCase() });
      assert.deepEqual(
        [(await fetchHeader(client, 7))?.number, (await fetchHeader(client, 7))?.hash],
        [7, BLOCK.hash.toLowerCase()],
      );
    }
  });

  it('refuse a block with another number than requested', async () => {
    answer(BLOCK);
    await assert.rejects(
      fetchHeader(client, 8),
      (error) => error instanceof UpstreamError && error.reason === 'inconsistent',
    );
  });

  it('build calls with quantities without leading zeros and the tracer named', () => {
    assert.deepEqual(blockCall(0), { method: 'eth_getBlockByNumber', params: ['0x0', true] });
    assert.deepEqual(receiptsCall(255), { method: 'eth_getBlockReceipts', params: ['0xff'] });
    assert.deepEqual(traceCall(16, HASH, 'trace_block', 10_000), { method: 'trace_block', params: ['0x10'] });
    const tracer = { tracer: 'callTracer', timeout: '10s' };
    assert.deepEqual(traceCall(16, HASH, 'debug_traceBlockByNumber', 10_000), {
      method: 'debug_traceBlockByNumber',
      params: ['0x10', tracer],
    });
    assert.deepEqual(receiptCall(HASH), { method: 'eth_getTransactionReceipt', params: [HASH] });
    assert.deepEqual(traceTransactionCall(HASH, 'trace_block', 10_000), {
      method: 'trace_transaction',
      params: [HASH],
    });
    assert.deepEqual(traceTransactionCall(HASH, 'debug_traceBlockByNumber', 9_001), {
      method: 'debug_traceTransaction',
      params: [HASH, tracer],
    });
  });
});

async function malformed(promise: Promise<unknown>, message: RegExp): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof UpstreamError, String(error));
    assert.equal(error.reason, 'malformed');
    assert.match(error.message, message);
    return true;
  });
}
