/** Transactions as nodes report them, which differ in what they leave out and how they word a revert. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Signatures } from '../../src/abi/signatures.ts';
import { failureRecord } from '../../src/api/failure-record.ts';
import { readNodeTransaction } from '../../src/daemon/transaction-reads.ts';
import { UpstreamError } from '../../src/lib/errors.ts';
import type { Hex } from '../../src/lib/hex.ts';
import type { RpcCall, RpcReply } from '../../src/node/client.ts';

const HASH: Hex = `0x${'12'.repeat(32)}`;
const BLOCK: Hex = `0x${'ab'.repeat(32)}`;
const ALICE: Hex = `0x${'a1'.repeat(20)}`;
const BOB: Hex = `0x${'b0'.repeat(20)}`;

const SENT = { from: ALICE, to: BOB, value: '0x5', input: '0x', blockNumber: '0x10', blockHash: BLOCK };
const RECEIPT = {
  status: '0x1',
  gasUsed: '0x5208',
  effectiveGasPrice: '0x2',
  contractAddress: null,
  logs: [],
};

type Answers = Record<string, unknown>;

/** Reads from a node that gives these results; an error is thrown for the call, as in a batch. */
async function read(answers: Answers) {
  const calls: RpcCall[] = [];
  const replyTo = (call: RpcCall): RpcReply => {
    calls.push(call);
    const { [call.method]: result = null } = answers;
    return result instanceof UpstreamError ? { error: result } : { result };
  };
  const client = {
    async call(method: string, params: readonly unknown[]) {
      const reply = replyTo({ method, params });
      if ('error' in reply) throw reply.error;
      return reply.result;
    },
    batch: async (batch: readonly RpcCall[]) => batch.map(replyTo),
  };
  const found = await readNodeTransaction(client, HASH, AbortSignal.timeout(1_000));
  return { found, calls };
}

const readWith = async (sent: object, receipt: object | null = RECEIPT) => {
  const { found } = await read({
    eth_getTransactionByHash: { ...SENT, ...sent },
    eth_getTransactionReceipt: receipt && { ...RECEIPT, ...receipt },
    eth_getBlockByHash: { timestamp: '0x64' },
  });
  assert.ok(found);
  return found;
};

/** The failure as answered, after a replay that the node answers with this error or result. */
const failureAfter = async (answer: unknown) => {
  const { found, calls } = await read({
    eth_getTransactionByHash: SENT,
    eth_getTransactionReceipt: { ...RECEIPT, status: '0x0' },
    eth_call: answer,
  });
  assert.deepEqual(calls.at(-1)?.params, [{ from: ALICE, to: BOB, value: '0x5', data: '0x' }, '0xf']);
  const { kind, reason, unknownReason } = failureRecord(found?.replay ?? null, new Signatures());
  return [kind, reason, unknownReason];
};

const refused = (message: string, code = 3, data?: unknown) =>
  new UpstreamError('rpc', `eth_call: ${message} (${code})`, code, { data });

describe('a transaction', () => {
  it('is read in one round, and its time in a second one', async () => {
    const { found, calls } = await read({
      eth_getTransactionByHash: SENT,
      eth_getTransactionReceipt: RECEIPT,
      eth_getBlockByHash: { timestamp: '0x64' },
    });
    assert.deepEqual(
      calls.map(({ method }) => method),
      ['eth_getTransactionByHash', 'eth_getTransactionReceipt', 'eth_getBlockByHash'],
    );
    assert.deepEqual(
      [found?.status, found?.timestamp, found?.value, found?.gasUsed, found?.gasPrice, found?.logs?.count],
      ['succeeded', 100, '5', '21000', '2', 0],
    );
  });

  it('that the node does not know is null', async () => {
    assert.equal((await read({})).found, null);
  });

  it('is pending without a block, whatever the receipt says', async () => {
    const found = await readWith({ blockNumber: null, blockHash: null, gasPrice: '0x7' });
    assert.deepEqual([found.status, found.block, found.logs, found.gasPrice], ['pending', null, null, '7']);
  });

  it('has an unknown outcome without a receipt, and in receipts of before the status', async () => {
    assert.deepEqual([(await readWith({}, null)).status, (await readWith({}, null)).logs], ['unknown', null]);
    assert.equal((await readWith({}, { status: undefined, root: BLOCK })).status, 'unknown');
    assert.equal((await readWith({}, { status: null })).status, 'unknown');
    assert.equal((await readWith({}, { status: 1 })).status, 'succeeded');
    assert.equal((await readWith({}, { status: '0x01' })).status, 'succeeded');
  });

  it('may lack any other field', async () => {
    const { found } = await read({
      eth_getTransactionByHash: { blockNumber: '0x10', blockHash: BLOCK },
      eth_getTransactionReceipt: {},
    });
    assert.deepEqual(
      [found?.from, found?.value, found?.nonce, found?.type, found?.timestamp, found?.input, found?.logs],
      [null, null, null, null, null, { hex: '0x', bytes: 0 }, { first: [], count: 0 }],
    );
  });

  it('creates a contract however the node spells that it has no receiver', async () => {
    for (const to of [null, undefined, '', '0x', `0x${'0'.repeat(40)}`])
      assert.equal(
        (await readWith({ to }, { contractAddress: BOB.toUpperCase().replace('X', 'x') })).createdContract,
        BOB,
      );
    assert.equal(
      (await readWith({ to: null }, { status: '0x0', contractAddress: BOB })).createdContract,
      null,
    );
    assert.equal((await readWith({}, { contractAddress: BOB })).createdContract, null, 'a call that creates');
  });

  it('has only events that are some, in lower case, cut in length and number', async () => {
    const log = { address: ALICE.toUpperCase().replace('X', 'x'), topics: [BLOCK, 'x', 1], data: '0xAB' };
    const logs = [log, null, 'x', { ...log, address: '0x' }, { ...log, data: `0x${'ff'.repeat(40_000)}` }];
    const { logs: found } = await readWith({}, { logs });
    assert.deepEqual(found?.first[0], {
      logIndex: null,
      address: ALICE,
      topics: [BLOCK],
      data: { hex: '0xab', bytes: 1 },
    });
    assert.deepEqual([found?.first.length, found?.first[1]?.data.hex.length], [2, 2 + 2 * 16 * 1024]);
    assert.equal(found?.first[1]?.data.bytes, 40_000);
    const many = await readWith({}, { logs: Array<object>(500).fill(log) });
    assert.deepEqual([many.logs?.first.length, many.logs?.count], [200, 500]);
  });

  it('takes its input from data, and drops input that is no hex', async () => {
    assert.equal((await readWith({ input: undefined, data: '0xFF' })).input.hex, '0xff');
    for (const input of ['0xf', 'ff', '0xzz', 5]) assert.equal((await readWith({ input })).input.hex, '0x');
  });
});

describe('a failure', () => {
  const message = `0x08c379a0${'20'.padStart(64, '0')}${'2'.padStart(64, '0')}${'6e6f'.padEnd(64, '0')}`;

  it('is read from the data of an error, wherever the node puts it', async () => {
    for (const data of [
      message,
      message.toUpperCase().replace('X', 'x'),
      `Reverted ${message}`,
      { data: message },
    ])
      assert.deepEqual(await failureAfter(refused('execution reverted', 3, data)), ['message', 'no', null]);
    assert.deepEqual(await failureAfter(refused('VM execution error.', -32015, message)), [
      'message',
      'no',
      null,
    ]);
  });

  it('without data is told in the words of the node', async () => {
    for (const [words, expected] of [
      ['execution reverted: not today', ['message', 'not today', null]],
      ['execution reverted', ['no_reason', 'reverted without a reason', null]],
      ['out of gas', ['out_of_gas', 'out of gas', null]],
      ['EVM error OutOfGas', ['out_of_gas', 'out of gas', null]],
      ['invalid opcode: INVALID', ['other', 'invalid opcode: INVALID', null]],
    ] as const)
      assert.deepEqual(await failureAfter(refused(words)), expected, words);
    assert.deepEqual(await failureAfter(refused('execution reverted', 3, '0x')), [
      'no_reason',
      'reverted without a reason',
      null,
    ]);
  });

  it('of an unknown error has its selector, and of a message that is none too', async () => {
    assert.deepEqual(await failureAfter(refused('execution reverted', 3, '0x12345678')), [
      'custom_error',
      'custom error 0x12345678',
      null,
    ]);
    assert.deepEqual(await failureAfter(refused('execution reverted', 3, '0x08c379a0ff')), [
      'custom_error',
      'Error',
      null,
    ]);
  });

  it('stays unknown where the node cannot run it again, and says why', async () => {
    const reasons = [
      [refused('missing trie node', -32000), /no longer has the state/],
      [refused('historical state is unavailable', -32000), /no longer has the state/],
      [refused('BlockOutOfRangeError: block height is 455 but requested was 6', -32602), /no longer has/],
      [refused('method not allowed', -32601), /did not run it again: method not allowed/],
      ['0x', /it succeeds: an earlier transaction/],
    ] as const;
    for (const [answer, why] of reasons) {
      const [kind, reason, unknown] = await failureAfter(answer);
      assert.deepEqual([kind, reason], [null, null]);
      assert.match(String(unknown), why);
    }
  });

  it('is cut where the contract says too much', async () => {
    const text = '61'.repeat(3_200);
    const data = `0x08c379a0${'20'.padStart(64, '0')}${(3_200).toString(16).padStart(64, '0')}${text}`;
    const [, reason] = await failureAfter(refused('execution reverted', 3, data));
    assert.equal(reason?.length, 500);
  });
});
