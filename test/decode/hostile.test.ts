/** Answers of a broken or hostile node, each of which once caused a failure here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchBuilder } from '../../src/decode/batch.ts';
import { needsTraces } from '../../src/decode/block.ts';
import { BLOCK_FIELDS, RECEIPTS_FIELDS, TRACE_FIELDS } from '../../src/decode/decoded-fields.ts';
import { CONSECUTIVE_TRANSFER, DEPOSIT, decodeLogs, readLogs, TRANSFER } from '../../src/decode/logs.ts';
import { flatTraces, treeTraces } from '../../src/decode/traces.ts';
import { UpstreamError } from '../../src/lib/errors.ts';
import { hexToBytes } from '../../src/lib/hex.ts';
import { parseBody, readSingle } from '../../src/node/reply.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { PLAIN_RULES, skippedIn } from './plain.ts';

const TOKEN = `0x${'c'.repeat(40)}`;
const TX = `0x${'1'.repeat(64)}`;
const ZERO = `0x${'0'.repeat(64)}`;
const ACCOUNT = `0x${'0'.repeat(24)}${'a'.repeat(40)}`;
const RULES = PLAIN_RULES;
const word = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;

interface RawLog {
  topics: string[];
  data: string;
  logIndex?: string;
}

function decode(logs: readonly RawLog[]): BatchBuilder {
  const out = new BatchBuilder();
  out.beginTransaction(TX);
  decodeLogs(out, readLogs({ logs: logs.map((log) => ({ address: TOKEN, logIndex: '0x0', ...log })) }), {
    ...RULES,
    wrappedNative: new Set([TOKEN]),
  });
  return out;
}

const isMalformed = (error: unknown): boolean =>
  error instanceof UpstreamError && error.reason === 'malformed';

test('a range with non-numeric ids is reported as the node’s fault and does not crash', () => {
  for (const first of ['0x', '0xzz', '0x-1'])
    assert.throws(
      () => decode([{ topics: [CONSECUTIVE_TRANSFER, first, ZERO, ACCOUNT], data: word(1) }]),
      isMalformed,
    );
});

test('ranges of one block give at most a hundred thousand transfers, the rest is refused and counted', () => {
  const range = { topics: [CONSECUTIVE_TRANSFER, word(1), ZERO, ACCOUNT], data: word(10_000) };
  const dirty = { ...range, topics: [CONSECUTIVE_TRANSFER, word(1), ZERO, `0x${'f'.repeat(64)}`] };
  const out = decode([dirty, ...Array.from({ length: 40 }, () => range)]);
  assert.equal(out.transferCount, 100_000);
  out.endBlock(1, TX, TX, 1);
  assert.equal(out.reserveRangeIds(10_000), true, 'the next block has room again');
  assert.equal(skippedIn(out.finish(true))['consecutive_range'], 30);
});

test('matches ten thousand deposits of one transaction with their transfers in linear time', () => {
  const deposit = { topics: [DEPOSIT, ACCOUNT], data: word(5) };
  const transfer = { topics: [TRANSFER, ZERO, ACCOUNT], data: word(5) };
  const logs = [
    ...Array.from({ length: 10_000 }, () => deposit),
    ...Array.from({ length: 4_000 }, () => transfer),
  ];
  const started = cpuMs();
  assert.equal(decode(logs).transferCount, 10_000, '4,000 deposits are told by transfers already');
  assert.ok(cpuMs() - started < 2_000);
});

test('a call tree deeper than the stack is still walked', () => {
  const call = (): { type: string; from: string; to: string; value: string; calls?: object[] } => ({
    type: 'CALL',
    from: TOKEN,
    to: TOKEN,
    value: '0x1',
  });
  let frame = call();
  const root = frame;
  for (let depth = 0; depth < 100_000; depth++) {
    const child = call();
    frame.calls = [child];
    frame = child;
  }
  let moves = 0;
  treeTraces([{ result: root }], [TX])
    .at(0)
    .forEachInternalTransfer(() => moves++, assert.fail);
  assert.equal(moves, 100_000);
});

test('the calls of a transaction are read as deep as the EVM allows, and deeper', () => {
  const open = `{"type":"CALL","from":"${TOKEN}","to":"${TOKEN}","value":"0x1","gas":"0x2","calls":[`;
  // The EVM allows 1,024 calls within calls; no more is only what a broken node sends.
  for (const depth of [1, 255, 256, 1_025, 20_000]) {
    const frames = open.repeat(depth) + ']}'.repeat(depth);
    const body = Buffer.from(`{"id":1,"result":[{"txHash":"${TX}","result":${frames}}]}`);
    const reply = readSingle(parseBody(body, 'test', TRACE_FIELDS.tree), 'test');
    assert.ok('result' in reply);
    let moves = 0;
    treeTraces(reply.result, [TX])
      .at(0)
      .forEachInternalTransfer(() => moves++, assert.fail);
    assert.equal(moves, depth - 1, `${depth} frames`);
  }
});

test('a block, receipts or traces within lists of any depth are refused, like any other nonsense', () => {
  const nested = (depth: number) => Buffer.from(`{"id":1,"result":${'['.repeat(depth)}${']'.repeat(depth)}}`);
  for (const depth of [600, 5_000, 200_000]) {
    for (const fields of [BLOCK_FIELDS, RECEIPTS_FIELDS, TRACE_FIELDS.tree, TRACE_FIELDS.flat]) {
      const reply = readSingle(parseBody(nested(depth), 'test', fields), 'test');
      assert.ok('result' in reply);
      assert.throws(() => needsTraces(reply.result, reply.result, RULES), isMalformed);
    }
  }
});

test('numbers that do not fit their columns are refused, not truncated', () => {
  const log = { topics: [TRANSFER, ZERO, ACCOUNT], data: word(5) };
  assert.throws(() => decode([{ ...log, logIndex: '0x80000000' }]), isMalformed);
});

test('characters beyond ASCII whose low byte is a digit are not hex digits', () => {
  assert.throws(() => hexToBytes('0x\u0130\u0131'), RangeError);
});

test('a value that cannot be converted to text is refused like any other node fault', () => {
  const hostile = { toString: 'none' };
  const refused = (decodeTraces: () => unknown) => assert.throws(decodeTraces, UpstreamError);
  refused(() => flatTraces([{ blockHash: hostile }], [TX], TX));
  refused(() => flatTraces([{ blockHash: TX, transactionHash: hostile }], [TX], TX));
  refused(() => treeTraces([{ txHash: hostile }], [TX]).at(0));
  refused(() => treeTraces([{ error: hostile }], [TX]).at(0));
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  refused(() => treeTraces([{ txHash: deep }], [TX]).at(0));
  treeTraces([{ result: { type: 'CALL', from: TOKEN, calls: [{ type: hostile }] } }], [TX])
    .at(0)
    .forEachInternalTransfer(() => assert.fail('a frame of no type moves nothing'), assert.fail);
  const transaction = { to: TOKEN, input: '0x' };
  assert.ok(needsTraces({ transactions: [transaction] }, [{ status: '0x1', gasUsed: hostile }], RULES));
});
