/** Any answer of a node: decoding must end in transfers or an UpstreamError, within a time limit. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { generateChain } from '../../../scripts/simulator/chain/generate.ts';
import { BatchBuilder } from '../../../src/decode/batch.ts';
import { type BlockParts, decodeBlock, needsTraces } from '../../../src/decode/block.ts';
import { BLOCK_FIELDS, RECEIPTS_FIELDS, TRACE_FIELDS } from '../../../src/decode/decoded-fields.ts';
import {
  CONSECUTIVE_TRANSFER,
  DEPOSIT,
  decodeLogs,
  readLogs,
  TRANSFER,
  TRANSFER_BATCH,
  TRANSFER_SINGLE,
  WITHDRAWAL,
} from '../../../src/decode/logs.ts';
import { decodeStakingPayouts } from '../../../src/decode/staking.ts';
import { flatTraces, treeTraces } from '../../../src/decode/traces.ts';
import { UpstreamError } from '../../../src/lib/errors.ts';
import type { Projection } from '../../../src/lib/projection.ts';
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { parseBody, readBatch, readSingle } from '../../../src/node/reply.ts';
import { PLAIN_RULES } from '../../decode/plain.ts';
import { cpuMs } from '../cpu-time.ts';
import { anyJson, corrupt, hexDigits, hexLike } from './arbitraries.ts';
import { type Property, property } from './property.ts';

const ignore = () => undefined;

/** Longest processor time for one input, milliseconds. Far above what a slow machine needs. */
const MAX_MS = 3_000;

/** Runs an input. Anything but an UpstreamError is a failure, and so is taking too long. */
function onlyUpstreamErrors(run: () => void): void {
  const startedAt = cpuMs();
  try {
    run();
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
  }
  const ms = cpuMs() - startedAt;
  assert.ok(ms < MAX_MS, `took ${ms.toFixed(0)} ms`);
}

const WRAPPED = `0x${'c'.repeat(40)}`;
const RULES = { ...PLAIN_RULES, monad: true, wrappedNative: new Set([WRAPPED]) };

function decode(parts: BlockParts): BlockBatch {
  const out = new BatchBuilder();
  decodeBlock(out, parts, RULES);
  return out.finish(true);
}

/** The columns of a batch are consistent, whatever the input. */
function checkBatch(batch: BlockBatch): void {
  const { transferCount, blockCount } = batch;
  assert.equal(batch.hash.length, blockCount * 32);
  assert.equal(batch.transferEnd.at(-1) ?? 0, transferCount);
  const addresses = batch.addresses.length / 20;
  for (let i = 0; i < transferCount; i++) {
    assert.ok(batch.from[i]! < addresses && batch.to[i]! < addresses && batch.token[i]! < addresses);
    assert.ok(batch.tx[i]! < batch.txHashes.length / 32);
  }
  assert.equal(batch.amountEnd.at(-1) ?? 0, batch.amounts.length);
  assert.equal(batch.tokenNumberEnd.at(-1) ?? 0, batch.tokenNumbers.length);
}

/** Real parts of a few blocks, parsed. */
const goodBlocks: BlockParts[] = [
  ...generateChain({ seed: 77, blocks: 6, txPerBlock: 12, wallets: 10, tokens: 4 }).blocks,
].map(
  ({ block, receipts, trace }): BlockParts => ({
    block: JSON.parse(String(block)),
    receipts: JSON.parse(String(receipts)),
    traces: trace ? { form: 'tree', value: JSON.parse(String(trace)) } : null,
  }),
);

const form = fc.constantFrom('tree' as const, 'flat' as const);

const blocksProperty = property(
  'blocks, receipts and traces of any form',
  fc.oneof(
    fc.record({
      block: anyJson,
      receipts: anyJson,
      traces: fc.option(fc.record({ form, value: anyJson })),
    }),
    fc.constantFrom(...goodBlocks).chain((good) =>
      fc.record({
        block: fc.oneof(
          { weight: 2, arbitrary: fc.constant(good.block) },
          { weight: 1, arbitrary: corrupt(good.block) },
        ),
        receipts: fc.oneof(
          { weight: 2, arbitrary: fc.constant(good.receipts) },
          { weight: 1, arbitrary: corrupt(good.receipts) },
        ),
        traces: fc.oneof(
          { weight: 1, arbitrary: fc.constant(good.traces) },
          {
            weight: 2,
            arbitrary: corrupt(good.traces?.value).chain((value) =>
              fc.record({ form, value: fc.constant(value) }),
            ),
          },
        ),
      }),
    ),
  ),
  (parts) => {
    onlyUpstreamErrors(() => needsTraces(parts.block, parts.receipts, RULES));
    onlyUpstreamErrors(() => checkBatch(decode(parts)));
    const sent: BlockParts = JSON.parse(JSON.stringify(parts));
    assert.deepEqual(decoded(cutParts(sent)), decoded(sent), 'decoded with only what is wanted of it');
  },
);

function cutParts({ block, receipts, traces }: BlockParts): BlockParts {
  return {
    block: cutTo(BLOCK_FIELDS, block),
    receipts: cutTo(RECEIPTS_FIELDS, receipts),
    traces: traces && { form: traces.form, value: cutTo(TRACE_FIELDS[traces.form], traces.value) },
  };
}

/** The client's view of a result that arrived as text. */
function cutTo(wanted: Projection, result: unknown): unknown {
  const reply = readSingle(parseBody(answerWith(result), 'test', wanted), 'test');
  assert.ok('result' in reply);
  return reply.result;
}

function answerWith(result: unknown): Buffer {
  return Buffer.from(JSON.stringify({ id: 1, result: result ?? null }));
}

/** The batch, or null if the parts are refused. */
function decoded(parts: BlockParts): BlockBatch | null {
  try {
    return decode(parts);
  } catch (error) {
    if (error instanceof UpstreamError) return null;
    throw error;
  }
}

const topic = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      TRANSFER,
      TRANSFER_SINGLE,
      TRANSFER_BATCH,
      CONSECUTIVE_TRANSFER,
      DEPOSIT,
      WITHDRAWAL,
    ),
  },
  { weight: 4, arbitrary: fc.stringMatching(/^0x0{24}[0-9a-f]{40}$/) },
  { weight: 2, arbitrary: hexLike },
);

const word = fc.oneof(
  fc.nat(200).map((n) => n.toString(16).padStart(64, '0')),
  fc.constantFrom('f'.repeat(64), `${'0'.repeat(56)}ffffffff`, `${'0'.repeat(62)}40`, `${'0'.repeat(62)}20`),
);

const log = fc.record({
  address: fc.oneof(
    { weight: 5, arbitrary: hexDigits(40) },
    { weight: 2, arbitrary: fc.constant(WRAPPED) },
    { weight: 1, arbitrary: hexLike },
  ),
  topics: fc.array(topic, { maxLength: 5 }),
  data: fc.oneof(
    { weight: 4, arbitrary: fc.array(word, { maxLength: 12 }).map((words) => `0x${words.join('')}`) },
    { weight: 1, arbitrary: hexLike },
  ),
  logIndex: fc.oneof(
    { weight: 6, arbitrary: fc.nat(1_000_000).map((n) => `0x${n.toString(16)}`) },
    { weight: 1, arbitrary: hexLike },
  ),
});

const zeroWord = '0'.repeat(64);
const accountTopic = `0x${'0'.repeat(24)}${'a'.repeat(40)}`;
const small = (n: number): string => n.toString(16).padStart(64, '0');
/** A log of each kind as emitted by contracts. */
const goodLogs = [
  { topics: [TRANSFER, accountTopic, accountTopic], data: `0x${small(5)}` },
  { topics: [TRANSFER, accountTopic, accountTopic, `0x${small(5)}`], data: '0x' },
  { topics: [TRANSFER_SINGLE, accountTopic, accountTopic, accountTopic], data: `0x${small(1)}${small(2)}` },
  {
    topics: [TRANSFER_BATCH, accountTopic, accountTopic, accountTopic],
    data: `0x${small(64)}${small(128)}${small(1)}${small(7)}${small(1)}${small(9)}`,
  },
  { topics: [CONSECUTIVE_TRANSFER, `0x${zeroWord}`, `0x${zeroWord}`, accountTopic], data: `0x${small(9)}` },
  { topics: [DEPOSIT, accountTopic], data: `0x${small(3)}` },
  { topics: [WITHDRAWAL, accountTopic], data: `0x${small(3)}` },
].map((log, i) => ({ address: WRAPPED, logIndex: `0x${i}`, ...log }));

const nearlyGoodLog = fc.constantFrom(...goodLogs).chain((good) => corrupt(good, hexLike));

const logsProperty = property(
  'logs of any form',
  fc.array(fc.oneof<fc.Arbitrary<unknown>[]>(log, nearlyGoodLog), { maxLength: 40 }),
  (logs) => {
    onlyUpstreamErrors(() => {
      const out = new BatchBuilder();
      out.beginTransaction(`0x${'1'.repeat(64)}`);
      const read = readLogs({ logs });
      decodeStakingPayouts(out, read, null);
      decodeLogs(out, read, RULES);
      out.endBlock(1, `0x${'2'.repeat(64)}`, `0x${'3'.repeat(64)}`, 1);
      checkBatch(out.finish(true));
    });
  },
);

/** Many logs of the kinds whose decoding depends on others, or yields many transfers. */
const floodProperty = property(
  'many logs of one transaction',
  fc.tuple(fc.constantFrom(DEPOSIT, TRANSFER, CONSECUTIVE_TRANSFER), fc.integer({ min: 1, max: 20_000 })),
  ([first, count]) => {
    const zero = `0x${'0'.repeat(64)}`;
    const account = `0x${'0'.repeat(24)}${'a'.repeat(40)}`;
    const topics =
      first === CONSECUTIVE_TRANSFER
        ? [first, zero, zero, account]
        : first === DEPOSIT
          ? [first, account]
          : [first, zero, account];
    const data = `0x${(first === CONSECUTIVE_TRANSFER ? 9_999 : 7).toString(16).padStart(64, '0')}`;
    const logs = Array.from({ length: count }, (_, i) => ({
      address: WRAPPED,
      topics,
      data,
      logIndex: `0x${i.toString(16)}`,
    }));
    onlyUpstreamErrors(() => {
      const out = new BatchBuilder();
      out.beginTransaction(`0x${'1'.repeat(64)}`);
      decodeLogs(out, readLogs({ logs }), RULES);
      assert.ok(out.transferCount <= 200_000, `${out.transferCount} transfers of one transaction`);
    });
  },
  40,
);

const txHashes = [`0x${'1'.repeat(64)}`, `0x${'2'.repeat(64)}`];
const frame = fc.letrec((tie) => ({
  frame: fc.record(
    {
      type: fc.oneof(
        {
          weight: 5,
          arbitrary: fc.constantFrom('CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT', 'DELEGATECALL', 'CALLCODE'),
        },
        { weight: 1, arbitrary: anyJson },
      ),
      from: fc.oneof({ weight: 5, arbitrary: hexDigits(40) }, { weight: 1, arbitrary: hexLike }),
      to: fc.oneof({ weight: 5, arbitrary: hexDigits(40) }, { weight: 1, arbitrary: hexLike }),
      value: hexLike,
      input: hexLike,
      error: anyJson,
      calls: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constant([]),
        fc.array(tie('frame'), { maxLength: 4 }),
        anyJson,
      ),
    },
    { requiredKeys: ['type', 'from', 'to'] },
  ),
})).frame;

const treesProperty = property(
  'call trees of any form',
  fc.array(fc.record({ txHash: fc.constantFrom(...txHashes), result: frame })),
  (items) => {
    onlyUpstreamErrors(() => {
      const traces = treeTraces(items, txHashes);
      for (const i of [0, 1]) {
        const trace = traces.at(i);
        trace.forEachInternalTransfer(ignore, ignore);
        trace.callsOf('a'.repeat(40));
      }
    });
  },
);

const flatProperty = property(
  'flat traces of any form',
  fc.array(
    corrupt({
      type: 'call',
      blockHash: txHashes[0],
      transactionHash: txHashes[0],
      traceAddress: [0, 1],
      action: { from: `0x${'a'.repeat(40)}`, to: `0x${'b'.repeat(40)}`, value: '0x5', callType: 'call' },
    }),
    { maxLength: 6 },
  ),
  (items) => {
    onlyUpstreamErrors(() => {
      const traces = flatTraces(items, [txHashes[0]!], txHashes[0]!);
      traces.at(0).forEachInternalTransfer(ignore, ignore);
    });
  },
);

const deepProperty = property(
  'call trees of any depth',
  fc.integer({ min: 1, max: 200_000 }),
  (depth) => {
    let nested: Record<string, unknown> = {
      type: 'CALL',
      from: `0x${'a'.repeat(40)}`,
      to: `0x${'b'.repeat(40)}`,
    };
    const root = nested;
    for (let i = 0; i < depth; i++) {
      const child = { type: 'CALL', from: `0x${'a'.repeat(40)}`, to: `0x${'b'.repeat(40)}`, value: '0x1' };
      nested.calls = [child];
      nested = child;
    }
    onlyUpstreamErrors(() =>
      treeTraces([{ result: root }], [txHashes[0]!])
        .at(0)
        .forEachInternalTransfer(ignore, ignore),
    );
  },
  40,
);

const repliesProperty = property(
  'replies and batches of any form',
  fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    corrupt([
      { jsonrpc: '2.0', id: 1, result: '0x1' },
      { jsonrpc: '2.0', id: 2, error: { code: -1, message: 'x' } },
    ]).map((value) => JSON.stringify(value) ?? ''),
  ),
  (text) => {
    const calls = [1, 2].map(() => ({ method: 'eth_chainId', params: [] }));
    onlyUpstreamErrors(() => {
      const body = parseBody(Buffer.from(text), 'test');
      onlyUpstreamErrors(() => readSingle(body, 'test'));
      readBatch(body, calls);
    });
  },
);

export const NODE_ANSWERS: readonly Property[] = [
  blocksProperty,
  logsProperty,
  floodProperty,
  treesProperty,
  flatProperty,
  deepProperty,
  repliesProperty,
];
