/** The sink's reads of the index: blocks with their transfers in chunks, each from one commit of the index. */
import { bytesToHex, type Hex, hexToBytes } from '../lib/hex.ts';
import { type AddressKeys, getByAddress, WALLET_BY_ADDRESS } from '../store/addresses.ts';
import { blockNumberSql, chainOf, readLastBlock } from '../store/chain.ts';
import { FinalBlocks } from '../store/final-blocks.ts';
import { type Db, inReadTransaction, type Statement } from '../store/open-database.ts';
import { ADDRESS_BYTES, tokenOf } from '../store/schema.ts';

/** Approximate transfers per chunk. The read holds a snapshot of the index for some 20 ms. */
const CHUNK_TRANSFERS = 4_000;
const CHUNK_BLOCKS = 1_000;

const WALLET_SLOTS = 1 << 18;
const TOKEN_SLOTS = 1 << 13;

/** A block up to which everything is in PostgreSQL. `lastTransfer` distinguishes two versions of a repaired block. */
export interface SinkTip {
  number: number;
  hash: Hex;
  /** Unix seconds. */
  timestamp: number;
  /** Highest transfers.id up to and including the block. */
  lastTransfer: number;
}

export interface SourceBlock {
  number: number;
  hash: Buffer;
  timestamp: number;
  last_transfer: number;
}

/** id, tx, sender, receiver, token_kind, amount, token_number, log_index. */
type SourceTransfer = [
  id: number,
  tx: Buffer | number,
  sender: number,
  receiver: number,
  tokenKind: number,
  amount: Buffer | null,
  tokenNumber: Buffer | null,
  logIndex: number | null,
];

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
  blocks: SourceBlock[];
  transfers: SourceTransfer[];
  /** Tokens first seen in these blocks. */
  tokens: SourceToken[];
  /** Wallets of the transfers that gained facts in these blocks; empty unless wanted. */
  wallets: SourceWallet[];
}

const TOKEN_COLUMNS = /* sql */ `
  k.id, w.address, k.kind, b.number AS block, b.timestamp, m.name, m.symbol, m.decimals,
    (m.address IS NOT NULL AND m.retry_at IS NULL) AS settled`;

const TOKEN_BLOCK = /* sql */ `
  CROSS JOIN wallets w ON w.id = k.wallet
  CROSS JOIN blocks b ON b.number = ${blockNumberSql('k.first_transfer')}
  LEFT JOIN token_metadata m ON m.address = w.address`;

export class IndexSource {
  readonly wallets: AddressCache;
  /** Contract addresses by tokens.id. */
  readonly tokens: AddressCache;
  private readonly db: Db;
  private readonly final: FinalBlocks;
  private readonly blockAt: Statement<[number], SourceBlock>;
  private readonly blocksAfter: Statement<[number, number, number], SourceBlock>;
  private readonly transfersOf: Statement<[number, number], SourceTransfer>;
  private readonly tokensAfter: Statement<[number, number, number], SourceToken>;
  private readonly tokensById: Statement<[string], SourceToken>;
  private readonly changedWallets: Statement<
    [string, number, number, number, number, number, number],
    WalletRow
  >;
  private readonly walletByAddress: Statement<AddressKeys, WalletRow>;
  private readonly blockOfTransfer: Statement<[number], number>;

  constructor(db: Db) {
    this.db = db;
    this.final = new FinalBlocks(db);
    this.blockAt = db.prepare('SELECT number, hash, timestamp, last_transfer FROM blocks WHERE number = +?');
    this.blocksAfter = db.prepare(/* sql */ `
      SELECT number, hash, timestamp, last_transfer FROM blocks WHERE number > +? AND number <= +?
      ORDER BY number LIMIT +?`);
    this.transfersOf = db
      .prepare<[number, number], SourceTransfer>(/* sql */ `
        SELECT id, tx, sender, receiver, token_kind, amount, token_number, log_index
        FROM transfers WHERE id > +? AND id <= +? ORDER BY id`)
      .raw();
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
    const addresses = (sql: string, slots: number) => new AddressCache(db.prepare(sql), slots);
    this.wallets = addresses(
      'SELECT w.id, address FROM json_each(?) list CROSS JOIN wallets w ON w.id = list.value',
      WALLET_SLOTS,
    );
    this.tokens = addresses(
      /* sql */ `SELECT k.id, w.address FROM json_each(?) list CROSS JOIN tokens k ON k.id = list.value
        CROSS JOIN wallets w ON w.id = k.wallet`,
      TOKEN_SLOTS,
    );
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
    const row = this.blockAt.get(number);
    return row === undefined ? null : tipOf(row);
  }

  /**
   * The blocks after `tip` (null: from `first`) up to `last`, as many as fit into a chunk. Null when a reorg removed
   * `tip` from the index. `tokensUpTo` is the highest token id already taken.
   */
  read(
    tip: SinkTip | null,
    { first, last, tokensUpTo, facts }: { first: number; last: number; tokensUpTo: number; facts: boolean },
  ): Chunk | null {
    return inReadTransaction(this.db, () => {
      if (tip !== null && !this.contains(tip)) return null;
      const after = tip?.number ?? first - 1;
      const before = tip?.lastTransfer ?? this.blockAt.get(after)?.last_transfer ?? 0;
      const blocks: SourceBlock[] = [];
      let lastTransfer = before;
      for (const block of this.blocksAfter.iterate(after, last, CHUNK_BLOCKS)) {
        blocks.push(block);
        lastTransfer = block.last_transfer;
        if (lastTransfer - before >= CHUNK_TRANSFERS) break;
      }
      const transfers = lastTransfer > before ? this.transfersOf.all(before, lastTransfer) : [];
      const wallets = this.loadAddresses(transfers);
      return {
        blocks,
        transfers,
        tokens: this.tokensAfter.all(tokensUpTo, lastTransfer, Number.MAX_SAFE_INTEGER),
        wallets: facts ? this.walletsWithNewFacts(wallets, before, lastTransfer) : [],
      };
    });
  }

  /** Tokens with ids above `after` that appeared up to a transfer, in order, at most `limit`. */
  tokensSeenUpTo(lastTransfer: number, after: number, limit: number): SourceToken[] {
    return this.tokensAfter.all(after, lastTransfer, limit);
  }

  /** The existing tokens among these ids. */
  tokensOf(ids: readonly number[]): SourceToken[] {
    return this.tokensById.all(JSON.stringify(ids));
  }

  /** The facts of a wallet as of a transfer, by address; null when the index lacks the wallet. */
  walletAsOf(address: Uint8Array, lastTransfer: number): SourceWallet | null {
    const row = getByAddress(this.walletByAddress, address);
    return row === undefined ? null : this.factsAsOf(row, lastTransfer);
  }

  /** Whether the index has exactly this block, with the same transfers before it. */
  contains(tip: SinkTip): boolean {
    const row = this.blockAt.get(tip.number);
    return (
      row !== undefined && row.last_transfer === tip.lastTransfer && row.hash.equals(hexToBytes(tip.hash))
    );
  }

  private loadAddresses(transfers: readonly SourceTransfer[]): Set<number> {
    const wallets = new Set<number>();
    const tokens = new Set<number>();
    for (const [, , sender, receiver, tokenKind] of transfers) {
      wallets.add(sender).add(receiver);
      const token = tokenOf(tokenKind);
      if (token !== 0) tokens.add(token);
    }
    this.wallets.load(wallets);
    this.tokens.load(tokens);
    return wallets;
  }

  private walletsWithNewFacts(ids: Set<number>, before: number, last: number): SourceWallet[] {
    const list = JSON.stringify([...ids].sort((a, b) => a - b));
    return this.changedWallets
      .all(list, before, last, before, last, before, last)
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

function tipOf({ number, hash, timestamp, last_transfer }: SourceBlock): SinkTip {
  return { number, hash: bytesToHex(hash), timestamp, lastTransfer: last_transfer };
}

interface AddressRow {
  id: number;
  address: Buffer;
}

/**
 * Ids are dense, so their low bits spread evenly: each id has the slot `id % size`, and a newer id evicts an older one.
 */
export class AddressCache {
  private readonly readAll: Statement<[string], AddressRow>;
  private readonly ids: Float64Array;
  readonly bytes: Uint8Array;
  /** Addresses of one lookup whose slots another id of that lookup took. */
  private readonly displaced = new Map<number, Buffer>();
  private readonly mask: number;

  /** `readAll` returns id and address for a JSON list of ids. `slots` is a power of two. */
  constructor(readAll: Statement<[string], AddressRow>, slots: number) {
    this.readAll = readAll;
    this.mask = slots - 1;
    this.ids = new Float64Array(slots).fill(-1);
    this.bytes = new Uint8Array(slots * ADDRESS_BYTES);
  }

  /** Loads the missing ids. `at` and `addressOf` then know all of `ids` until the next call. */
  load(ids: Iterable<number>): void {
    this.displaced.clear();
    const missing: number[] = [];
    for (const id of ids) if (this.ids[id & this.mask] !== id) missing.push(id);
    if (missing.length === 0) return;
    missing.sort((a, b) => a - b); // in file order
    const wanted = new Set(ids);
    for (const { id, address } of this.readAll.iterate(JSON.stringify(missing))) {
      const slot = id & this.mask;
      const holder = this.ids[slot]!;
      if (holder >= 0 && wanted.has(holder)) {
        this.displaced.set(id, address);
        continue;
      }
      this.ids[slot] = id;
      this.bytes.set(address, slot * ADDRESS_BYTES);
    }
  }

  /** The address of a loaded id. */
  addressOf(id: number): Uint8Array {
    const slot = id & this.mask;
    if (this.ids[slot] === id) return this.bytes.subarray(slot * ADDRESS_BYTES, (slot + 1) * ADDRESS_BYTES);
    const address = this.displaced.get(id);
    if (address === undefined) throw new Error(`the address of id ${id} is missing in the index`);
    return address;
  }

  /** Clears the cache. After a rollback an id may belong to another address. */
  clear(): void {
    this.ids.fill(-1);
    this.displaced.clear();
  }
}
