/** Events of trades that chains rarely have: new standards, gaps, huge transactions, unknown senders. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { prepareStreamReads } from '../../../src/query/stream-reads.ts';
import { signalSchema } from '../../../src/schemas/stream-records.ts';
import { BatchSource } from '../../../src/streams/transfers/batch-source.ts';
import { HeldEvents, MetadataWait } from '../../../src/streams/transfers/held-events.ts';
import { IndexSource } from '../../../src/streams/transfers/index-source.ts';
import { parseSignalFilter } from '../../../src/streams/transfers/parse-filter.ts';
import { signalRecord } from '../../../src/streams/transfers/signal-json.ts';
import { type Signal, signalsOf } from '../../../src/streams/transfers/signals.ts';
import { type EventSource, type Form, TransferEvent } from '../../../src/streams/transfers/transfer-event.ts';
import { address, createIndex, type NamedBlock } from '../../support/index/index-fixture.ts';
import { waitFor } from '../../support/wait.ts';
import { CHAIN } from '../filters.ts';

const PARTIES = {
  parties: { from: address('wallet').slice(2), to: address('pool').slice(2) },
  reason: null,
};
const QUOTE = 'quote';
const LISTS = { quoteTokens: [address(QUOTE)], feeSinks: [address('sink')] };

/** Refuses members that the documents do not name. */
const TRADE_SCHEMA = signalSchema.options
  .find(({ shape }) => shape.event.safeParse('wallet_trade').success)!
  .strict();

type Json = Record<string, unknown>;

/** The events of trades in the last of some blocks: read from the index, and decoded before their commit. */
function tradesIn(
  context: TestContext,
  blocks: readonly NamedBlock[],
  given: object = {},
  gap = false,
): Json[] {
  const fixture = createIndex(context);
  const [before, last] = [blocks.slice(0, -1), blocks.at(-1) ?? {}];
  if (before.length > 0) fixture.append(before);
  const first = (fixture.writer.head()?.lastTransfer ?? 0) + 1;
  const made = fixture.batch([last]);
  const [number = 0] = made.number;
  const gaps = gap ? [{ kind: 'trace' as const, first: number, last: number, reason: 'lost' }] : [];
  const batch = { ...made, gaps };
  const { db, snapshot } = fixture.snapshot(context);
  const reads = prepareStreamReads(db, snapshot, LISTS);
  const decoded = new BatchSource(batch, first, {
    chainInfo: CHAIN,
    tokenFacts: reads.tokenSymbols,
    firstTransferOf: reads.firstTransferOf,
    tokenStart: reads.tokenStart,
    tradeRules: reads.tradeRules,
    parties: { get: () => undefined },
  });
  decoded.partiesOf = () => PARTIES;
  const rows = Array.from(batch.tx, (tx, i) =>
    decoded.rowAt(i, 0, i - batch.tx.indexOf(tx), decoded.addressesAt(i)),
  );
  const early = recordsOf(decoded, rows, given);
  snapshot.release();
  fixture.writer.append([batch]);
  const indexed = new IndexSource({ reads, parties: { get: () => PARTIES }, chainInfo: CHAIN });
  const late = recordsOf(indexed, reads.events(rows.map(({ id }) => id)), given);
  assert.deepEqual(early, late);
  return late;
}

function recordsOf(source: EventSource, rows: readonly TransferEvent['row'][], given: object): Json[] {
  const filter = parseSignalFilter({ events: ['wallet_trade'], ...given });
  return rows.flatMap((row) => {
    const event = TransferEvent.from(source, row);
    for (const _piece of event.prepare([
      { examines: true, examinesTrades: true, sidesOf: () => ['in', 'out'] },
    ]));
    return signalsOf(filter, event).map((signal) => {
      const record = signalRecord(event, signal, 0);
      TRADE_SCHEMA.parse(record);
      return record;
    });
  });
}

const ofWallet = { wallets: [address('wallet')] };

function summary({ kind, given, received, tokenAddress, amount, valueWei, initiated }: Json): Json {
  const legs = (side: unknown) => {
    assert.ok(Array.isArray(side));
    return side.map((leg: Json) => `${leg.amount} ${nameOf(leg.tokenAddress)}`);
  };
  return {
    kind,
    given: legs(given),
    received: legs(received),
    token: nameOf(tokenAddress),
    amount: amount ?? valueWei,
    initiated,
  };
}

function nameOf(token: unknown): string {
  const names = ['meme', 'mixed', 'art', QUOTE];
  return names.find((name) => address(name) === token) ?? (token === null ? 'native' : 'other');
}

test('a purchase is told once, at the last transfer of its wallet, with what was bought', (context) => {
  const [trade, ...others] = tradesIn(
    context,
    [
      {
        buy: [
          { from: 'wallet', to: 'pool', amount: 10n },
          { kind: 'erc20', token: 'meme', from: 'pool', to: 'wallet', amount: 5n },
          { kind: 'native_internal', from: 'pool', to: 'wallet', amount: 2n },
          { kind: 'erc20', token: 'meme', from: 'pool', to: 'someone', amount: 1n },
        ],
      },
    ],
    ofWallet,
  );
  assert.deepEqual(others, []);
  assert.ok(trade);
  assert.deepEqual(summary(trade), {
    kind: 'buy',
    given: ['8 native'],
    received: ['5 meme'],
    token: 'meme',
    amount: '5',
    initiated: true,
  });
  const { eventIndex, leg, legs, direction, from, wallet, uncertain, price } = trade;
  assert.deepEqual([eventIndex, leg, legs, direction, uncertain, price], [2, 3, 3, 'in', false, null]);
  assert.deepEqual([from, wallet], [address('pool'), address('wallet')]);
});

test('transfers alone, arbitrage, fees alone and the zero address are no trades', (context) => {
  const found = tradesIn(context, [
    {
      gift: [{ kind: 'erc20', token: 'meme', from: 'someone', to: 'wallet', amount: 5n }],
      there: [
        { from: 'wallet', to: 'pool', amount: 10n },
        { kind: 'native_internal', from: 'pool', to: 'wallet', amount: 11n },
      ],
      fee: [
        { from: 'wallet', to: 'sink', amount: 10n },
        { kind: 'erc20', token: 'meme', from: 'someone', to: 'wallet', amount: 5n },
      ],
      mint: [
        { kind: 'erc20', token: 'meme', from: 'zero', to: 'other', amount: 5n },
        { kind: 'erc20', token: 'art', from: 'other', to: 'zero', amount: 5n },
      ],
      nothing: [
        { from: 'wallet', to: 'pool', amount: 0n },
        { kind: 'erc20', token: 'meme', from: 'pool', to: 'wallet', amount: 5n },
      ],
    },
  ]);
  assert.deepEqual(
    found.map(({ wallet, kind }) => [wallet, kind]),
    [[address('other'), 'swap']],
  );
});

test('the NFTs of a token that began in units are no leg, though it began in this block or before', (context) => {
  const begin: NamedBlock = {
    begin: [{ kind: 'erc20', token: 'mixed', from: 'zero', to: 'pool', amount: 100n }],
  };
  const sale: NamedBlock = {
    sale: [
      { kind: 'erc721', token: 'mixed', from: 'pool', to: 'wallet', tokenId: 7n },
      { kind: 'erc20', token: QUOTE, from: 'wallet', to: 'pool', amount: 3n },
      { kind: 'erc20', token: 'meme', from: 'pool', to: 'wallet', amount: 1n },
    ],
  };
  const expected = ['buy', ['3 quote'], ['1 meme']];
  for (const blocks of [[begin, sale], [{ ...begin, ...sale }]]) {
    const [trade] = tradesIn(context, blocks, ofWallet);
    assert.ok(trade);
    const { kind, given, received } = summary(trade);
    assert.deepEqual([kind, given, received], expected);
  }
  const [collection] = tradesIn(context, [sale], ofWallet);
  assert.ok(collection);
  const { kind, received } = summary(collection);
  assert.deepEqual(
    [kind, received],
    ['mixed', ['1 mixed', '1 meme']],
    'NFTs of a token that began with them',
  );
});

test('a trade in a block without traces is told, and uncertain', (context) => {
  const block: NamedBlock = {
    buy: [
      { from: 'wallet', to: 'pool', amount: 10n },
      { kind: 'erc721', token: 'art', from: 'pool', to: 'wallet', tokenId: 3n },
      { kind: 'erc721', token: 'art', from: 'pool', to: 'wallet', tokenId: 4n },
    ],
  };
  const [trade] = tradesIn(context, [block], ofWallet, true);
  assert.ok(trade);
  const [leg] = Array.isArray(trade.received) ? trade.received : [];
  assert.deepEqual([trade.uncertain, trade.kind, trade.amount, trade.decimals], [true, 'buy', '2', 0]);
  assert.deepEqual([leg.tokenIds, leg.count], [['3', '4'], 2]);
});

test('of a huge trade all assets are counted and matched, and the first hundred listed', (context) => {
  const COUNT = 1_200;
  const drops = Array.from({ length: COUNT }, (_, i) => ({
    kind: 'erc20' as const,
    token: `token ${i}`,
    from: 'pool',
    to: 'wallet',
    amount: BigInt(i + 1),
  }));
  const block: NamedBlock = { huge: [{ from: 'wallet', to: 'pool', amount: 10n }, ...drops] };
  const [trade, ...others] = tradesIn(context, [block], { ...ofWallet, tokens: [address('token 1199')] });
  assert.deepEqual(others, []);
  assert.ok(trade && Array.isArray(trade.received));
  assert.deepEqual([trade.kind, trade.receivedCount, trade.received.length], ['mixed', COUNT, 100]);
  assert.deepEqual(
    [trade.tokenAddress, trade.amount, trade.valueWei, trade.symbol],
    [null, null, null, null],
  );
  assert.deepEqual(tradesIn(context, [block], { ...ofWallet, tokens: [address('token')] }), []);
});

test('minAmount and minQuote bound what was traded, inclusively, and only in the assets they name', (context) => {
  const block: NamedBlock = {
    sell: [
      { kind: 'erc20', token: 'meme', from: 'wallet', to: 'pool', amount: 5n },
      { kind: 'erc20', token: QUOTE, from: 'pool', to: 'wallet', amount: 30n },
    ],
  };
  const passes = (given: object) => tradesIn(context, [block], { ...ofWallet, ...given }).length === 1;
  const [meme, quote] = [address('meme'), address(QUOTE)];
  assert.ok(passes({ minQuote: { [quote]: '30' } }));
  assert.ok(!passes({ minQuote: { [quote.toUpperCase().replace('X', 'x')]: '31' } }));
  assert.ok(passes({ minQuote: { native: '31' } }));
  assert.ok(passes({ minQuote: { [meme]: '31' } }));
  assert.ok(passes({ minAmount: { [meme]: '5' } }) && !passes({ minAmount: { [meme]: '6' } }));
  assert.ok(
    passes({ tokens: [quote] }) && passes({ tokens: [meme] }) && !passes({ tokens: [address('art')] }),
  );
  assert.ok(!passes({ kinds: ['buy'] }) && passes({ kinds: [] }) && passes({ kinds: ['buy', 'sell'] }));
});

test('members about trades are refused where the filter selects none, and bad ones by name', () => {
  const events = ['wallet_trade'];
  const refused: [object, RegExp][] = [
    [{ kinds: ['buy'] }, /^kinds needs wallet_trade among the events$/],
    [{ minQuote: { native: '1' }, events: ['wallet_token_buy'] }, /^minQuote needs wallet_trade/],
    [{ events, kinds: ['bought'] }, /^kinds\[0\] must be among buy, sell, swap, mixed$/],
    [{ events, kinds: 'buy' }, /^kinds must be an array$/],
    [{ events, minQuote: { native: 1 } }, /^minQuote\.native must be an integer in base units, as a string$/],
    [{ events, minQuote: { native: '1.5' } }, /must be an integer in base units/],
    [{ events, minQuote: { MON: '1' } }, /^a quote of minQuote must be native, or the address of a token/],
    [{ events, minQuote: '5' }, /^minQuote must be an object: quote to amount/],
    [{ events, initiated: 'yes' }, /^initiated must be true or false$/],
  ];
  for (const [filter, message] of refused) assert.throws(() => parseSignalFilter(filter), { message });
  for (const filter of [
    { kinds: [], minQuote: {} },
    { kinds: null, minQuote: null, initiated: null },
  ])
    assert.equal(parseSignalFilter(filter).initiated, false);
});

test('a trade waits for the symbol of each new token in it, not only of its last transfer', async (context) => {
  const known = new Map<string, { symbol: string; decimals: number; viewKind: null }>();
  const fixture = createIndex(context);
  fixture.append([
    {
      buy: [
        { kind: 'erc20', token: 'meme', from: 'pool', to: 'wallet', amount: 5n },
        { from: 'wallet', to: 'pool', amount: 10n },
      ],
    },
  ]);
  const { db, snapshot } = fixture.snapshot(context);
  const reads = prepareStreamReads(db, snapshot);
  const tokenFacts = (token: string) => known.get(token) ?? reads.tokenSymbols(token);
  const source = new IndexSource({ reads, parties: { get: () => PARTIES }, chainInfo: CHAIN });
  Object.defineProperty(source, 'tokenFacts', { value: tokenFacts });
  const metadata = new MetadataWait({ tokenSymbols: tokenFacts, tokenStart: () => undefined }, 60_000);
  const held = new HeldEvents({
    metadata,
    tokenFacts,
    onReleased: () => undefined,
    onFailure: assert.ifError,
  });
  context.after(() => held.close());
  const [row] = reads.events([2]);
  assert.ok(row);
  const event = TransferEvent.from(source, { ...row, timestamp: Math.floor(Date.now() / 1000) });
  const trade: Signal = { event: 'wallet_trade', direction: 'out' };
  const shown: unknown[] = [];
  const holder = {
    pushNow: (of: TransferEvent, forms: readonly Form[]) =>
      void shown.push(...forms.map((form) => of.notification(form).messageFor(Buffer.alloc(34)).toString())),
  };
  assert.equal(held.passes(holder, event, [trade]), false);
  known.set(address('meme').slice(2), { symbol: 'MEME', decimals: 0, viewKind: null });
  await waitFor(() => shown.length > 0, { what: 'the release' });
  assert.match(String(shown[0]), /"symbol":"MEME".*"price":"0\.000000000000000002"/);
});
