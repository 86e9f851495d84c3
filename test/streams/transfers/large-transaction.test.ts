/** A wallet's part in a transaction of any size is found, in bounded pieces, alike before the commit and after it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { prepareStreamReads } from '../../../src/query/stream-reads.ts';
import { BatchSource } from '../../../src/streams/transfers/batch-source.ts';
import { IndexSource } from '../../../src/streams/transfers/index-source.ts';
import { signalRecord } from '../../../src/streams/transfers/signal-json.ts';
import type { Direction } from '../../../src/streams/transfers/signals.ts';
import { sideSignal } from '../../../src/streams/transfers/signals.ts';
import { type EventSource, TransferEvent } from '../../../src/streams/transfers/transfer-event.ts';
import { nestedCleanup } from '../../support/cleanup.ts';
import { address, createIndex, type NamedTransfer } from '../../support/index/index-fixture.ts';
import { CHAIN, NO_RULES } from '../filters.ts';

const UNKNOWN = { parties: null, reason: 'the block was decoded without its transactions' };
const DUST = 6_000;

/** The wallet buys in the middle of dust that the payer sends, of which it gets a sixth. */
function purchase(): NamedTransfer[] {
  const dust = Array.from(
    { length: DUST },
    (_, i): NamedTransfer => ({
      kind: 'erc20',
      token: `dust ${i % 7}`,
      from: 'payer',
      to: i % 6 === 0 ? 'wallet' : `receiver ${i}`,
      amount: 2n,
    }),
  );
  dust.splice(
    DUST / 2,
    0,
    { from: 'wallet', to: 'payer', amount: 100n },
    { kind: 'erc20', token: 'meme', from: 'payer', to: 'wallet', amount: 5n },
    { kind: 'native_internal', from: 'payer', to: 'wallet', amount: 40n },
  );
  return dust;
}

/** The large transaction between two others of the same wallets, from the batch and from the index. */
function setUp(context: TestContext) {
  const cleanup = nestedCleanup(context);
  const fixture = createIndex(cleanup);
  const around = (name: string): NamedTransfer[] =>
    Array.from({ length: 70 }, () => ({ from: 'payer', to: 'wallet', kind: 'erc20', token: name }));
  const batch = fixture.batch([{ before: around('a'), large: purchase(), after: around('b') }]);
  fixture.writer.append([batch]);
  const { db, snapshot } = fixture.snapshot(cleanup);
  const reads = prepareStreamReads(db, snapshot);
  const { tokenSymbols: tokenFacts, firstTransferOf, tradeRules } = reads;
  const indexed = new IndexSource({ reads, parties: { get: () => UNKNOWN }, chainInfo: CHAIN });
  const decoded = new BatchSource(batch, 1, {
    chainInfo: CHAIN,
    tokenFacts,
    firstTransferOf,
    tokenStart: reads.tokenStart,
    tradeRules,
    parties: { get: () => UNKNOWN },
  });
  return { reads, indexed, decoded };
}

function record(
  source: EventSource,
  row: TransferEvent['row'],
  direction: Direction,
): Record<string, unknown> {
  return { ...signalRecord(TransferEvent.from(source, row), sideSignal(row, direction), 0) };
}

/** The ids of the large transaction's first transfer, and of the purchase. */
const FIRST = 71;
const BOUGHT = FIRST + DUST / 2 + 1;

test('the purchase is found behind the dust, by id and before the commit', (context) => {
  const { reads, indexed, decoded } = setUp(context);
  const [row] = reads.events([BOUGHT]);
  assert.ok(row);
  const found = record(indexed, row, 'in');
  assert.deepEqual(found, record(decoded, row, 'in'));
  assert.deepEqual(
    [found['wallet'], found['paidCount'], found['receivedCount'], found['leg'], found['legs']],
    [address('wallet'), 1, 8, DUST / 12 + 2, DUST / 6 + 3],
  );
  assert.deepEqual(found['paid'], [
    { tokenAddress: null, tokenId: null, amount: '60', symbol: 'MON', decimals: 18 },
  ]);
});

test('every event is the same from either source, in any order, also next to the large transaction', (context) => {
  const { reads, indexed, decoded } = setUp(context);
  const ids = [
    ...Array.from({ length: 40 }, (_, i) => 1 + i * 153),
    FIRST - 1,
    FIRST,
    FIRST + DUST + 2,
    FIRST + DUST + 3,
  ];
  for (const row of reads.events([...ids, ...ids.toReversed()]))
    for (const direction of ['in', 'out'] as const)
      assert.deepEqual(
        record(indexed, row, direction),
        record(decoded, row, direction),
        `transfer ${row.id}`,
      );
});

test('a wallet with many transfers in a transaction is examined in pieces, one with few at once', (context) => {
  const { reads, indexed, decoded } = setUp(context);
  const [row, dust] = reads.events([BOUGHT, FIRST + 1]);
  assert.ok(row && dust);
  for (const [source, name] of [[indexed, 'index'] as const, [decoded, 'batch'] as const]) {
    const piecesOf = (direction: Direction, of: TransferEvent['row'] = row) => {
      let pieces = 1;
      while (source.sideOf(of, direction, false) === undefined) pieces++;
      return pieces;
    };
    assert.ok(source.isLarge(row), name);
    const payer = piecesOf('out');
    assert.ok(payer >= 6 && payer < 100, `${payer} pieces of ${name}`);
    assert.equal(piecesOf('out'), 1, 'examined once');
    assert.ok(piecesOf('in', dust) <= 2, `a receiver of dust, ${name}`);
  }
});

test('the pieces of a large transaction are turns for the caller, and only of the requested sides', (context) => {
  const { reads, indexed } = setUp(context);
  const [row] = reads.events([BOUGHT]);
  assert.ok(row);
  const turnsFor = (...sides: Direction[]) => {
    const event = TransferEvent.from(indexed, row);
    return [...event.prepare([{ examines: true, examinesTrades: false, sidesOf: () => sides }])].length;
  };
  assert.equal(turnsFor(), 0);
  const [wallet, payer] = [turnsFor('in'), turnsFor('out')];
  assert.ok(wallet >= 1 && payer > 2 * wallet, `${wallet} and ${payer} turns`);
});

test('a transfer of a block without traces is uncertain before the commit as after it', (context) => {
  const fixture = createIndex(context);
  const batch = fixture.batch([{ first: [{ from: 'payer', to: 'wallet' }] }]);
  const gap = { kind: 'trace', first: 1, last: 1, reason: 'lost' } as const;
  fixture.writer.append([{ ...batch, gaps: [gap] }]);
  const { db, snapshot } = fixture.snapshot(context);
  const { tokenSymbols: tokenFacts, firstTransferOf, events } = prepareStreamReads(db, snapshot);
  const options = {
    chainInfo: CHAIN,
    tokenFacts,
    firstTransferOf,
    tokenStart: () => undefined,
    tradeRules: () => NO_RULES,
    parties: { get: () => undefined },
  };
  for (const [gaps, uncertain] of [
    [[gap], 1],
    [[], 0],
  ] as const) {
    const source = new BatchSource({ ...batch, gaps }, 1, options);
    const row = source.rowAt(0, 0, 0, source.addressesAt(0));
    const [committed] = events([1]);
    assert.deepEqual({ ...committed, ...row }, { ...committed, uncertain });
  }
});
