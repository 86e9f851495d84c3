/** The traders of a range equal a plain count of its transfers, also from what earlier readings kept. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Hex } from '../../src/lib/hex.ts';
import { newTradeRules } from '../../src/model/trade-rules.ts';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { NATIVE } from '../../src/model/wallet-part.ts';
import { prepareTransferIdsOfBlocks } from '../../src/query/blocks.ts';
import { type Head, Snapshot } from '../../src/query/snapshot.ts';
import { prepareTraderRanking, type TradedPair, type Trader } from '../../src/query/token-traders.ts';
import { prepareTokenIdByWallet } from '../../src/query/tokens.ts';
import { prepareTradeIds } from '../../src/query/trade-ids.ts';
import { prepareTradersIn } from '../../src/query/traders-in-range.ts';
import { WalletIdCache } from '../../src/query/wallet-id-cache.ts';
import { unitBudget } from '../../src/query/work-budget.ts';
import { openIndexForReading } from '../../src/store/index-file.ts';
import { IndexWriter } from '../../src/store/index-writer.ts';
import type { TradeIds } from '../../src/trades/trade-part.ts';
import {
  type PlainBlock,
  type PlainTransfer,
  randomBlocks,
  randomSource,
  randomToken,
  randomWallet,
  toBatch,
} from '../support/chain/random-chain.ts';
import { indexedTransfers } from '../support/index/index-rows.ts';
import { tempDir } from '../support/temp-dir.ts';
import { plainTraders } from '../support/trades/compare-traders.ts';
import { type PlainLists, PlainTrades } from '../support/trades/plain-trades.ts';

const isGap = (block: number): boolean => block % 20 === 7;

const [WRAPPED, STABLE, DOLLAR, MEME, DOG] = [0, 1, 2, 3, 4].map((i) => randomToken(i) as Hex) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
];

/** Wallets trade two tokens with a pool for four coins; now and then they only send something. */
function swaps(count: number, seed: number, first = 1, parent = `0x${'00'.repeat(32)}`): PlainBlock[] {
  const random = randomSource(seed);
  const int = (n: number) => Math.floor(random() * n);
  const pick = <T>(list: readonly T[]): T => list[int(list.length)] as T;
  const move = (from: number, to: number, token: Hex | null): PlainTransfer => ({
    kind: token === null ? TransferKind.nativeDirect : TransferKind.erc20,
    from: randomWallet(from).slice(2),
    to: randomWallet(to).slice(2),
    token: token?.slice(2) ?? '',
    logIndex: token === null ? -1 : int(100),
    amount: BigInt(int(50)),
    number: null,
  });
  const swap = (): PlainTransfer[] => {
    const [wallet, coin, token] = [1 + int(5), pick([null, WRAPPED, STABLE, DOLLAR]), pick([MEME, DOG])];
    if (random() < 0.2) return [move(wallet, 0, token)];
    const [paid, got] = random() < 0.6 ? [coin, token] : [token, coin];
    const refund = random() < 0.3 ? [move(0, wallet, paid)] : [];
    return [move(wallet, 0, paid), ...refund, move(0, wallet, got)];
  };
  return randomBlocks(first, count, parent, seed).map((block) => ({
    ...block,
    transactions: [0, 1, 2, 3].map((i) => ({ hash: `0x${block.hash.slice(3)}${i}`, transfers: swap() })),
  }));
}

const PAIRS: readonly [token: Hex, quote: Hex | null][] = [
  [MEME, null],
  [MEME, STABLE],
  [MEME, DOLLAR],
  [DOG, null],
];

/** A chain of swaps and its index. */
class Chain {
  readonly writer: IndexWriter;
  private readonly path: string;
  private readonly owner: TestContext;
  private readonly complete = new Set<number>();
  private lists: PlainLists = { equivalents: [], quotes: [], sinks: [] };

  constructor(owner: TestContext, blocks: readonly PlainBlock[]) {
    this.owner = owner;
    this.path = join(tempDir(owner), 'index.db');
    this.writer = new IndexWriter(this.path, { cacheMb: 8 });
    owner.after(() => this.writer.close());
    this.writer.setChain(1, 1);
    this.setLists(STABLE);
    this.append(blocks);
  }

  /** Another quote token needs other sums. */
  setLists(quote: Hex): void {
    const [equivalents, quotes] = [[WRAPPED], [quote]];
    const configured = { nativeEquivalents: equivalents, quoteTokens: quotes };
    this.writer.setTradeRules(newTradeRules({ chainId: 1, wrappedNative: [], configured }));
    while (this.writer.deriveStep(1_000) !== null);
    this.lists = { equivalents, quotes, sinks: [] };
  }

  append(blocks: readonly PlainBlock[]): void {
    for (const block of blocks) this.writer.append([toBatch([block], !isGap(block.number))]);
  }

  /** Other blocks take the place of those above one. */
  reorg(above: number, seed: number, count: number): void {
    this.writer.rollback(above);
    this.grow(seed, count);
  }

  grow(seed: number, count: number): void {
    const { number, hash } = this.writer.head()!;
    this.append(swaps(count, seed, number + 1, hash));
  }

  setComplete(block: number): void {
    this.writer.setComplete('trace', { first: block, last: block });
    this.complete.add(block);
  }

  get head(): number {
    return this.writer.head()?.number ?? 0;
  }

  /** A reader of the traders of blocks, and of all by the stored sums. It keeps what it read. */
  reader() {
    const db = openIndexForReading(this.path);
    const snapshot = new Snapshot(db);
    this.owner.after(() => {
      snapshot.release();
      db.close();
    });
    const walletIds = new WalletIdCache(db, snapshot);
    const idsAt = prepareTradeIds(db, walletIds);
    const tokenOf = prepareTokenIdByWallet(db);
    const tradersIn = prepareTradersIn(db);
    const ranking = prepareTraderRanking(db);
    const idsOfBlocks = prepareTransferIdsOfBlocks(db);
    const shown = (traders: Iterable<Trader>) =>
      [...traders].map(({ wallet, sums, profit }) =>
        lineOf({ address: walletIds.addressOf(wallet), ...sums, profit }),
      );
    const read = <T>(
      [token, quote]: [Hex, Hex | null],
      of: (pair: TradedPair, ids: TradeIds, head: Head) => T,
    ): T => {
      const head = snapshot.head();
      assert.ok(head);
      const idOf = (contract: Hex | null) =>
        contract ? (walletIds.withId(contract, tokenOf) ?? -1) : NATIVE;
      const result = of({ token: idOf(token), quote: idOf(quote) }, idsAt(head), head);
      snapshot.release();
      return result;
    };
    return {
      blocks: (pair: [Hex, Hex | null], first: number, last: number) =>
        read(pair, (ids, lists, head) => {
          const { traders, readFrom } = tradersIn(
            ids,
            idsOfBlocks(first, last),
            lists,
            head,
            unitBudget(1e9),
          );
          assert.equal(readFrom, null);
          return shown(traders).sort();
        }),
      all: (pair: [Hex, Hex | null]) =>
        read(pair, (ids) =>
          shown(ranking(ids, { order: 'profit', after: undefined }, unitBudget(1e9))).sort(),
        ),
    };
  }

  /** The same by a count of their transfers. */
  plain([token, quote]: [Hex, Hex | null], first: number, last: number): string[] {
    const trades = new PlainTrades(indexedTransfers(dirname(this.path)), this.lists);
    const counts = ({ block }: { block: number }) =>
      block >= first && block <= last && (!isGap(block) || this.complete.has(block));
    return plainTraders(trades, token, quote ?? 'native', counts)
      .map(lineOf)
      .sort();
  }
}

type Line = Omit<ReturnType<typeof plainTraders>[number], 'lastBlock'>;

function lineOf({ address, buys, sells, bought, spent, sold, received, profit }: Line): string {
  return [address, buys, sells, bought, spent, sold, received, profit].join(' ');
}

test('a range over everything equals the stored sums, and each half a plain count of its blocks', (t) => {
  const chain = new Chain(t, swaps(60, 3));
  const reader = chain.reader();
  let traders = 0;
  for (const pair of PAIRS) {
    const whole = reader.blocks(pair, 1, 60);
    assert.deepEqual(whole, reader.all(pair));
    assert.deepEqual(whole, chain.plain(pair, 1, 60));
    for (const [first, last] of [
      [1, 30],
      [31, 60],
    ] as const) {
      const half = chain.plain(pair, first, last);
      assert.deepEqual(reader.blocks(pair, first, last), half, 'of a reader that has read all');
      assert.deepEqual(chain.reader().blocks(pair, first, last), half, 'of a new one');
    }
    traders += whole.length;
  }
  assert.ok(traders > 10, `${traders} traders`);
});

test('windows stay equal to a plain count while blocks come and go, gaps close and the lists change', (t) => {
  const chain = new Chain(t, swaps(45, 4));
  const reader = chain.reader();
  let traders = 0;
  const compare = (what: string) => {
    for (const pair of PAIRS)
      for (const blocks of [5, 40, 20]) {
        const expected = chain.plain(pair, chain.head - blocks + 1, chain.head);
        assert.deepEqual(reader.blocks(pair, chain.head - blocks + 1, chain.head), expected, what);
        traders += expected.length;
      }
  };
  compare('first');
  for (const seed of [11, 12]) {
    chain.grow(seed, 1);
    compare('another block');
  }
  chain.reorg(chain.head - 3, 13, 5);
  compare('a longer branch');
  chain.reorg(chain.head - 2, 14, 2);
  compare('a branch of the same length');
  chain.writer.rollback(chain.head - 1);
  compare('a shorter branch');
  chain.setComplete(27);
  compare('a gap that is complete');
  chain.grow(15, 12);
  compare('more blocks than the smallest window has');
  chain.setLists(DOLLAR);
  compare('another quote token');
  assert.ok(traders > 100, `${traders} traders`);
});
