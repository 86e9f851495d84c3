/** What only some versions of the rules count: mints of deposits, and transactions that share a hash. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchBuilder } from '../../src/decode/batch.ts';
import { type BlockParts, decodeBlock } from '../../src/decode/block.ts';
import { TRANSFER } from '../../src/decode/logs.ts';
import type { DecodeRules } from '../../src/decode/rules.ts';
import { bytesToHex } from '../../src/lib/hex.ts';
import { packedHash } from '../../src/model/block-batch.ts';
import { A, B, BLOCK_HASH, C, PLAIN_RULES, rowsOf, topicOf, word } from './plain.ts';

const ZERO = `0x${'0'.repeat(40)}`;
const FIRST_RULES: DecodeRules = { ...PLAIN_RULES, version: 1 };

interface Sent {
  hash?: string;
  from?: string;
  to?: string;
  value?: string;
  type?: unknown;
  mint?: unknown;
  status?: string;
  logs?: object[];
}

/** A block of these transactions. */
function blockOfAll(sent: readonly Sent[], traces: BlockParts['traces'] = null): BlockParts {
  const hashes = sent.map(({ hash }, i) => hash ?? hashOf(i));
  return {
    block: {
      number: '0x5',
      hash: BLOCK_HASH,
      parentHash: `0x${'b0'.repeat(32)}`,
      timestamp: '0x64',
      transactions: sent.map(({ status: _, logs: __, ...tx }, i) => ({
        from: A,
        to: B,
        value: '0x0',
        input: '0x',
        ...tx,
        hash: hashes[i],
      })),
    },
    receipts: sent.map(({ status = '0x1', logs = [] }, i) => ({
      transactionHash: hashes[i],
      blockHash: BLOCK_HASH,
      gasUsed: '0x5208',
      contractAddress: null,
      status,
      logs,
    })),
    traces,
  };
}

function hashOf(i: number): string {
  return `0x${`${i + 1}`.padStart(64, '7')}`;
}

function decode(parts: BlockParts, rules = PLAIN_RULES) {
  const out = new BatchBuilder();
  decodeBlock(out, parts, rules);
  return out.finish(parts.traces !== null);
}

const moves = (parts: BlockParts, rules?: DecodeRules) =>
  rowsOf(decode(parts, rules)).map((row) => [row.kind, row.from, row.to, row.amount]);

test('the mint of a deposit is a native transfer of the zero address before its value, and stays if that fails', () => {
  const deposit = { type: '0x7e', mint: '0x9' };
  assert.deepEqual(moves(blockOfAll([{ ...deposit, value: '0x4' }])), [
    ['native_direct', ZERO, A, 9n],
    ['native_direct', A, B, 4n],
  ]);
  assert.deepEqual(moves(blockOfAll([{ ...deposit, value: '0x4', status: '0x0' }])), [
    ['native_direct', ZERO, A, 9n],
  ]);
  assert.deepEqual(moves(blockOfAll([{ ...deposit, value: '0x4', to: A }])), [
    ['native_direct', ZERO, A, 9n],
  ]);
  for (const type of ['0x7E', '0x07e', 126, '126'])
    assert.equal(moves(blockOfAll([{ type, mint: '9' }])).length, 1, `type ${type}`);
});

test('a deposit without a mint, and a mint of another type, create nothing', () => {
  for (const sent of [
    { type: '0x7e' },
    { type: '0x7e', mint: null },
    { type: '0x7e', mint: '0x0' },
    { type: '0x2', mint: '0x9' },
    { mint: '0x9' },
  ])
    assert.deepEqual(moves(blockOfAll([sent])), []);
  assert.deepEqual(moves(blockOfAll([{ type: '0x7e', mint: '0x9' }]), FIRST_RULES), [], 'by rules 1');
});

/** `place eventIndex` of each transfer: its transaction's place among those stored, and its place within that. */
function placesOf(parts: BlockParts, rules?: DecodeRules): string[] {
  const batch = decode(parts, rules);
  const counts = new Map<number, number>();
  return Array.from(batch.tx, (tx) => {
    const eventIndex = counts.get(tx) ?? 0;
    counts.set(tx, eventIndex + 1);
    return `${bytesToHex(packedHash(batch.txHashes, tx)).slice(-1)} ${tx} ${eventIndex}`;
  });
}

test('transactions of one hash in a block are one transaction, wherever they stand', () => {
  const twice = { hash: hashOf(8), value: '0x1' };
  const parts = blockOfAll([twice, { ...twice, value: '0x2' }, { value: '0x3' }, { ...twice, value: '0x4' }]);
  assert.deepEqual(
    moves(parts).map(([, , , amount]) => amount),
    [1n, 2n, 4n, 3n],
  );
  assert.deepEqual(placesOf(parts), ['9 0 0', '9 0 1', '9 0 2', '3 1 0']);
  const first = blockOfAll([{ ...twice, status: '0x0' }, twice]);
  assert.deepEqual(placesOf(first), ['9 0 0'], 'the first one transfers nothing');
  assert.deepEqual(
    placesOf(parts, FIRST_RULES),
    ['9 0 0', '9 1 0', '3 2 0', '9 3 0'],
    'by rules 1 they are several',
  );
});

test('flat traces of transactions with one hash belong to them in turn', () => {
  const hash = hashOf(8);
  const trace = (traceAddress: number[], value: number, to = C) => ({
    blockHash: BLOCK_HASH,
    transactionHash: hash,
    type: 'call',
    traceAddress,
    action: { callType: 'call', from: B, to, value: `0x${value.toString(16)}`, input: '0x' },
    result: {},
  });
  const value = [trace([], 0), trace([0], 5), trace([], 0), trace([0], 6), trace([0, 0], 7)];
  const traces = { form: 'flat', value } as const;
  for (const rules of [PLAIN_RULES, FIRST_RULES])
    assert.deepEqual(
      moves(
        blockOfAll(
          [
            { hash, value: '0x1' },
            { hash, value: '0x2' },
          ],
          traces,
        ),
        rules,
      ).map(([, , , amount]) => amount),
      [1n, 5n, 2n, 6n, 7n],
    );
});

test('a staking payout counts once where the chain logs it as a native transfer too', () => {
  const staking = `0x${'0'.repeat(36)}1000`;
  const log = (address: string, topics: string[], data: string, i: number) => ({
    address,
    topics,
    data,
    logIndex: `0x${i}`,
  });
  const withdraw = '0x63030e4238e1146c63f38f4ac81b2b23c8be28882e68b03f0887e50d0e9bb18f';
  const logs = [
    log(staking, [withdraw, topicOf('0x1'), topicOf(A)], `0x${word(3)}${word(50)}`, 0),
    log(
      '0xfffffffffffffffffffffffffffffffffffffffe',
      [TRANSFER, topicOf(staking), topicOf(A)],
      `0x${word(50)}`,
      1,
    ),
  ];
  assert.deepEqual(moves(blockOfAll([{ to: staking, logs }]), { ...PLAIN_RULES, monad: true }), [
    ['native_internal', staking, A, 50n],
  ]);
});
