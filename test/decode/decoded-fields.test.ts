import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateChain } from '../../scripts/simulator/chain/generate.ts';
import { BatchBuilder } from '../../src/decode/batch.ts';
import { type BlockParts, decodeBlock, needsTraces, releaseBlock } from '../../src/decode/block.ts';
import { BLOCK_FIELDS, RECEIPTS_FIELDS, TRACE_FIELDS } from '../../src/decode/decoded-fields.ts';
import { flatTraces } from '../../src/decode/traces.ts';
import { parseProjected } from '../../src/lib/json-projection.ts';
import { type LazyJsonArray, ObjectProjection, type Projection } from '../../src/lib/projection.ts';
import { PLAIN_RULES } from './plain.ts';

function wantedOf(text: string | Buffer, wanted: Projection): unknown {
  const answer = parseProjected(Buffer.from(`{"result":${text}}`), new ObjectProjection({ result: wanted }));
  return (answer as { result: unknown }).result;
}

const RULES = { ...PLAIN_RULES, monad: true };

test('a projected block decodes like the whole one', () => {
  const { blocks } = generateChain({ seed: 3, blocks: 40, unindexedEvery: 5 });
  const whole = new BatchBuilder();
  const cut = new BatchBuilder();
  for (const generated of blocks) {
    const block: unknown = JSON.parse(String(generated.block));
    const receipts: unknown = JSON.parse(String(generated.receipts));
    const traces = { form: 'tree', value: JSON.parse(String(generated.trace)) } as const;
    const parts: BlockParts = {
      block: wantedOf(generated.block, BLOCK_FIELDS),
      receipts: wantedOf(generated.receipts, RECEIPTS_FIELDS),
      traces: { form: 'tree', value: wantedOf(String(generated.trace), TRACE_FIELDS.tree) },
    };
    assert.equal(needsTraces(parts.block, parts.receipts, RULES), needsTraces(block, receipts, RULES));
    decodeBlock(whole, { block, receipts, traces }, RULES);
    decodeBlock(cut, parts, RULES);
    releaseBlock(parts); // the decoded values do not need its memory
  }
  assert.ok(whole.transferCount > 1_000);
  assert.deepEqual(cut.finish(true), whole.finish(true));
});

test('the types of ordinary transactions, and blooms that prove nothing, are left out of what is parsed', () => {
  const types = ['0x0', '0x4', '0x5', '0x7e', '0X2', '2', 2, null, undefined].map((type) => ({ type }));
  const { transactions } = wantedOf(JSON.stringify({ transactions: types }), BLOCK_FIELDS) as {
    transactions: LazyJsonArray;
  };
  assert.deepEqual(
    types.map((_, i) => (transactions.at(i) as { type?: unknown }).type),
    [undefined, undefined, '0x5', '0x7e', '0X2', '2', 2, null, undefined],
  );
  const bloom = (digits: string) => ({ logsBloom: `0x${digits.padEnd(512, digits.at(-1))}` });
  const receipts = [bloom('0'), bloom('f'), bloom('10'), bloom('f0'), bloom('ff1')];
  const read = wantedOf(JSON.stringify(receipts), RECEIPTS_FIELDS) as LazyJsonArray;
  assert.deepEqual(
    receipts.map((_, i) => read.at(i)),
    [{}, {}, { logsBloom: true }, { logsBloom: true }, { logsBloom: true }],
  );
});

const address = (digit: string) => `0x${digit.repeat(40)}`;

test('projected flat traces give the same transfers', () => {
  const hash = `0x${'1'.repeat(64)}`;
  const common = {
    blockHash: hash,
    transactionHash: hash,
    subtraces: 0,
    blockNumber: 1,
    transactionPosition: 0,
  };
  const call = {
    callType: 'call',
    from: address('a'),
    to: address('b'),
    value: '0x5',
    gas: '0x1',
    input: '0x',
  };
  const done = { gasUsed: '0x0', output: '0x' };
  const traces = [
    { ...common, type: 'call', traceAddress: [], action: call, result: done },
    { ...common, type: 'call', traceAddress: [0], action: call, result: done },
    { ...common, type: 'call', traceAddress: [1], action: call, result: null, error: 'Reverted' },
    {
      ...common,
      type: 'create',
      traceAddress: [2],
      action: { from: address('a'), value: '0x6', gas: '0x1', init: '0x' },
      result: { address: address('c'), code: '0x00', gasUsed: '0x0' },
    },
    {
      ...common,
      type: 'suicide',
      traceAddress: [2, 0],
      action: { address: address('c'), refundAddress: address('a'), balance: '0x7' },
      result: null,
    },
  ];
  const cut = wantedOf(JSON.stringify(traces), TRACE_FIELDS.flat);
  const moves: string[][] = [];
  flatTraces(cut, [hash], hash)
    .at(0)
    .forEachInternalTransfer((...move) => moves.push(move), assert.fail);
  assert.deepEqual(
    moves.map(([from, to, amount]) => `${from?.[0]} ${to?.[0]} ${amount}`),
    ['a b 0x5', 'a c 0x6', 'c a 0x7'],
  );
});
