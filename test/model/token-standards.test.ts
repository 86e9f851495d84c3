/** Every token standard: its log is decoded, stored and read back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatchBuilder } from '../../src/decode/batch.ts';
import { decodeLogs, TRANSFER, TRANSFER_SINGLE } from '../../src/decode/logs.ts';
import { type TokenKindName, TRANSFER_KINDS, TransferKind } from '../../src/model/transfer-kind.ts';
import { amountOf, kindName, prepareTransfersById, tokenIdOf } from '../../src/query/transfers.ts';
import { PLAIN_RULES } from '../decode/plain.ts';
import { createIndex, txHash } from '../support/index/index-fixture.ts';

const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`;
const [FROM, TO] = [word(0xaan), word(0xbbn)];
const CONTRACT = `0x${'cc'.repeat(20)}`;

interface Standard {
  topics: string[];
  data: bigint[];
  tokenId: string | null;
  amount: string;
}

/** A log of each standard, and what it says. */
const STANDARDS: Record<TokenKindName, Standard> = {
  erc20: { topics: [TRANSFER, FROM, TO], data: [5n], tokenId: null, amount: '5' },
  erc721: { topics: [TRANSFER, FROM, TO, word(7n)], data: [], tokenId: '7', amount: '1' },
  erc1155: {
    topics: [TRANSFER_SINGLE, word(0n), FROM, TO],
    data: [7n, 5n],
    tokenId: '7',
    amount: '5',
  },
};

for (const [name, { topics, data, tokenId, amount }] of Object.entries(STANDARDS)) {
  const text = `0x${data.map((value) => word(value).slice(2)).join('')}`;
  const wanted = [name, tokenId, amount, 'aa'.padStart(40, '0'), 'bb'.padStart(40, '0')];

  test(`a transfer of ${name} is indexed as its log says`, (t) => {
    const out = new BatchBuilder();
    out.beginTransaction(txHash('only'));
    decodeLogs(out, [{ emitter: CONTRACT, topics, data: text, index: 0 }], PLAIN_RULES);
    out.endBlock(1, txHash('block'), txHash('parent'), 1_700_000_000);
    const index = createIndex(t);
    index.writer.append([out.finish(true)]);
    const [row] = prepareTransfersById(index.reader(t))([1]);
    assert.ok(row !== undefined);
    assert.deepEqual([kindName(row.kind), tokenIdOf(row), `${amountOf(row)}`, row.from, row.to], wanted);
  });
}

test('every code of a kind has its facts', () => {
  const codes = TRANSFER_KINDS.map(({ code }) => code).toSorted((a, b) => a - b);
  assert.deepEqual(codes, Object.values(TransferKind));
});
