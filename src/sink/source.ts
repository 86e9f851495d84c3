/** The sink's reads of the index: blocks with their transfers in chunks, each from one commit of the index. */

import { currentMark, type Rewrites } from '../model/rewrites.ts';
import type { TradeRow } from '../model/trade-columns.ts';
import type { ConfiguredTradeLists } from '../model/trade-rules.ts';
import { type AddressKeys, getByAddress, WALLET_BY_ADDRESS } from '../store/addresses.ts';
import { prepareGapBlocks, prepareIsGap } from '../store/block-gaps.ts';
import { blockNumberSql, chainOf, readLastBlock, type Tip } from '../store/chain.ts';
import { FinalBlocks } from '../store/final-blocks.ts';
import { type Db, inReadTransaction, type Statement } from '../store/open-database.ts';
import { AddressBook } from '../store/read/address-book.ts';
import { type BlockReader, blockFinder, prepareBlocks } from '../store/read/blocks.ts';
import { idList } from '../store/read/id-list.ts';
import { prepareTradeRows } from '../store/read/trade-rows.ts';
import { prepareTransfers, type StoredTransfer, type TransferReader } from '../store/read/transfers.ts';
import { prepareRewrites } from '../store/rewrites.ts';
import { prepareTradeLists, type TradeLists } from '../store/trades/trade-lists.ts';

/** Approximate transfers per chunk. The read holds a snapshot of the index for some 20 ms. */
const CHUNK_TRANSFERS = 4_000;
const CHUNK_BLOCKS = 1_000;

const WALLETS_KEPT = 1 << 18;
const TOKENS_KEPT = 1 << 13;

/** A block up to which everything is in PostgreSQL. `lastTransfer` distinguishes two versions of a repaired block. */
export type SinkTip = Pick<Tip, 'number' | 'hash' | 'timestamp' | 'lastTransfer'>;

export interface SourceToken {
  id: number;
  address: Buffer;
  kind: number;
  block: number;
  timestamp: number;
  name: string | null;
  symbol: string | null;
  decimals: number | null;
  /** 1 if the contract will not be called again. */
  settled: number;
}

/** A wallet's facts as of a transfer. */
export interface SourceWallet {
  address: Buffer;
  /** Transfer ids and their blocks. */
  first: number;
  firstBlock: number;
  funding: number | null;
  fundingBlock: number | null;
}

/** The current facts. */
interface WalletRow {
  address: Buffer;
  first: number;
  direct: number | null;
  internal: number | null;
}

export interface Chunk {
  blocks: Tip[];
  transfers: StoredTransfer[];
  /** Empty unless wanted. */
  trades: TradeRow[];
  /** Tokens first seen in these blocks. */
  tokens: SourceToken[];
  /** Wallets of the transfers that gained facts in these blocks; empty unless wanted. */
  wallets: SourceWallet[];
}

interface ChunkRequest {
  /** Of the index (model/rewrites.ts). */
  mark: string;
  /** The lists by which trades are told (model/trade-rules.ts); null where no trades are wanted. */
  rules: string | null;
  /** The first block where there is no tip. */
  first: number;
  last: number;
  /** The highest token id already taken. */
  tokensUpTo: number;
  /** Whether wallets are wanted. */
  facts: boolean;
  /** Another block that the index must have. */
  holds?: SinkTip;
}

const TOKEN_COLUMNS = /* sql */ `
  k.id, w.address, k.kind, b.number AS block, b.timestamp, m.name, m.symbol, m.decimals,
    (m.address IS NOT NULL AND m.retry_at IS NULL) AS settled`;

const TOKEN_BLOCK = /* sql */ `
  CROSS JOIN wallets w ON w.id = k.wallet
  CROSS JOIN blocks b ON b.number = ${blockNumberSql('k.first_transfer')}
  LEFT JOIN token_metadata m ON m.address = w.address`;

export class SinkSource {
  /** Knows the addresses of the chunk read last. */
  readonly book: AddressBook;
  /** The rewrites of the index. */
  readonly rewrites: () => Rewrites;
  /** How many of the blocks `first .. last` lack transfers. */
  readonly gapBlocks: (first: number, last: number) => number;
  /** Whether a block lacks transfers. */
  readonly isGap: (block: number) => boolean;
  private readonly db: Db;
  private readonly tradeLists: () => TradeLists;
  private readonly tradeRows: ReturnType<typeof prepareTradeRows>;
  private readonly final: FinalBlocks;
  private readonly blocks: BlockReader;
  private readonly transfers: TransferReader;
  private readonly tokensAfter: Statement<[number, number, number], SourceToken>;
  private readonly tokensById: Statement<[string], SourceToken>;
  private readonly changedWallets: Statement<
    [string, number, number, number, number, number, number],
    WalletRow
  >;
  private readonly walletByAddress: Statement<AddressKeys, WalletRow>;
  private readonly blockOfTransfer: Statement<[number], number>;

  /** `maxReorg` is `index.max_reorg`, `configured` are the lists of `[trades]`. */
  constructor(db: Db, maxReorg: number, configured: ConfiguredTradeLists) {
    this.db = db;
    this.tradeLists = prepareTradeLists(db, configured);
    this.gapBlocks = prepareGapBlocks(db);
    this.isGap = prepareIsGap(db);
    this.final = new FinalBlocks(db, maxReorg);
    this.rewrites = prepareRewrites(db);
    this.book = new AddressBook(db, { wallets: WALLETS_KEPT, tokens: TOKENS_KEPT, prefix: '0x' });
    this.tradeRows = prepareTradeRows(db, this.book);
    this.blocks = prepareBlocks(db);
    this.transfers = prepareTransfers(db);
    this.tokensAfter = db.prepare(/* sql */ `
      SELECT ${TOKEN_COLUMNS} FROM tokens k ${TOKEN_BLOCK}
      WHERE k.id > +? AND k.first_transfer <= +? ORDER BY k.id LIMIT +?`);
    this.tokensById = db.prepare(/* sql */ `
      SELECT ${TOKEN_COLUMNS} FROM json_each(?) list CROSS JOIN tokens k ON k.id = list.value ${TOKEN_BLOCK}`);
    const walletColumns =
      'address, first_transfer AS first, first_direct AS direct, first_internal AS internal';
    this.walletByAddress = db.prepare(`SELECT ${walletColumns} FROM ${WALLET_BY_ADDRESS}`);
    this.blockOfTransfer = db.prepare<[number], number>(`SELECT ${blockNumberSql('+?')}`).pluck();
    this.changedWallets = db.prepare(/* sql */ `
      SELECT ${walletColumns} FROM json_each(?) list CROSS JOIN wallets w ON w.id = list.value
      WHERE (first_transfer > +? AND first_transfer <= +?) OR (first_direct > +? AND first_direct <= +?)
        OR (first_internal > +? AND first_internal <= +?)`);
  }

  /** The indexed chain and its first block, null until known. */
  chain(): { chainId: number; startBlock: number } | null {
    return chainOf(this.db);
  }

  /** The newest block of the index, or the newest final one; null without one. */
  head(finality: 'latest' | 'finalized'): SinkTip | null {
    return inReadTransaction(this.db, () =>
      finality === 'latest' ? readLastBlock(this.db) : this.final.last(),
    );
  }

  /** An indexed block, null when the index lacks it. */
  block(number: number): SinkTip | null {
    return this.blocks.at(number) ?? null;
  }

  /**
   * The blocks after `tip` (null: from `first`) up to `last`, as many as fit into a chunk. Null when a reorg removed
   * `tip` from the index, or its mark or lists have changed.
   */
  read(tip: SinkTip | null, request: ChunkRequest): Chunk | null {
    return inReadTransaction(this.db, () => {
      const { first, last, tokensUpTo, facts } = request;
      const lists = request.rules === null ? null : this.tradeLists();
      if (!this.answers(request, lists) || (tip !== null && !this.contains(tip))) return null;
      const after = tip?.number ?? first - 1;
      const before = tip?.lastTransfer ?? this.block(after)?.lastTransfer ?? 0;
      const blocks = this.blocksOfChunk(after + 1, last, before);
      const lastTransfer = blocks.at(-1)?.lastTransfer ?? before;
      const transfers = lastTransfer > before ? this.transfers.range(before + 1, lastTransfer + 1) : [];
      this.book.load(transfers);
      return {
        blocks,
        transfers,
        trades: lists === null ? [] : this.tradeRows(transfers, blockFinder(blocks), lists.ids),
        tokens: this.tokensAfter.all(tokensUpTo, lastTransfer, Number.MAX_SAFE_INTEGER),
        wallets: facts ? this.walletsWithNewFacts(transfers, before, lastTransfer) : [],
      };
    });
  }

  /** Whether the index is still as the request takes it to be. */
  private answers({ mark, rules, holds }: ChunkRequest, lists: TradeLists | null): boolean {
    if (currentMark(this.rewrites()) !== mark || (lists !== null && lists.rules !== rules)) return false;
    return holds === undefined || this.contains(holds);
  }

  /** The lists by which trades are told now (model/trade-rules.ts). */
  tradeRules(): string {
    return inReadTransaction(this.db, () => this.tradeLists().rules);
  }

  /** As many of the blocks as a chunk takes. `before` is the last transfer before them. */
  private blocksOfChunk(first: number, last: number, before: number): Tip[] {
    const blocks: Tip[] = [];
    for (const block of this.blocks.range(first, Math.min(last, first + CHUNK_BLOCKS - 1))) {
      blocks.push(block);
      if (block.lastTransfer - before >= CHUNK_TRANSFERS) break;
    }
    return blocks;
  }

  /** Tokens with ids above `after` that appeared up to a transfer, in order, at most `limit`. */
  tokensSeenUpTo(lastTransfer: number, after: number, limit: number): SourceToken[] {
    return this.tokensAfter.all(after, lastTransfer, limit);
  }

  /** The existing tokens among these ids. */
  tokensOf(ids: readonly number[]): SourceToken[] {
    return this.tokensById.all(idList(ids));
  }

  /** The facts of a wallet as of a transfer, by address; null when the index lacks the wallet. */
  walletAsOf(address: Uint8Array, lastTransfer: number): SourceWallet | null {
    const row = getByAddress(this.walletByAddress, address);
    return row === undefined ? null : this.factsAsOf(row, lastTransfer);
  }

  /** Whether the index has exactly this block, with the same transfers before it. */
  contains(tip: SinkTip): boolean {
    const block = this.block(tip.number);
    return block !== null && block.lastTransfer === tip.lastTransfer && block.hash === tip.hash;
  }

  private walletsWithNewFacts(
    transfers: readonly StoredTransfer[],
    before: number,
    last: number,
  ): SourceWallet[] {
    const ids = new Set<number>();
    for (const { sender, receiver } of transfers) ids.add(sender).add(receiver);
    return this.changedWallets
      .all(idList([...ids].sort((a, b) => a - b)), before, last, before, last, before, last)
      .map((row) => this.factsAsOf(row, last))
      .filter(({ first, funding }) => first > before || (funding ?? 0) > before);
  }

  /** A fact never changes once set, so the current row also yields the facts as of an earlier block. */
  private factsAsOf({ address, first, direct, internal }: WalletRow, last: number): SourceWallet {
    const funding = [direct, internal].find((id) => id !== null && id <= last) ?? null;
    return {
      address,
      first,
      firstBlock: this.blockOf(first),
      funding,
      fundingBlock: funding === null ? null : this.blockOf(funding),
    };
  }

  private blockOf(transfer: number): number {
    const block = this.blockOfTransfer.get(transfer);
    if (block === undefined) throw new Error(`transfer ${transfer} is in no block of the index`);
    return block;
  }
}
