/** Reads stored blocks back as batches, to write them again. */
import { BatchBuilder } from '../decode/batch.ts';
import { ZERO_DIGITS } from '../model/address.ts';
import type { BlockBatch } from '../model/block-batch.ts';
import { gapsBetween } from '../store/block-gaps.ts';
import { hashAt, readLastBlock } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import type { PackedPair } from '../store/packed-parties.ts';
import { AddressBook } from '../store/read/address-book.ts';
import { addressesOfPair, prepareBlockParties, walletsOfPair } from '../store/read/transaction-parties.ts';
import { prepareTransfers, type StoredTransfer, type TransferReader } from '../store/read/transfers.ts';
import { DamageError } from '../store/storage-error.ts';

/** Some 10 MB for each of two files. */
const ADDRESSES_KEPT = { wallets: 1 << 17, tokens: 1 << 12 };

export class StoredBlocks {
  private readonly db: Db;
  private readonly transfers: TransferReader;
  private readonly partiesOf: ReturnType<typeof prepareBlockParties>;
  /** The rebuilt file comes first, because in the damaged one the addresses of a changed block may be wrong. */
  private readonly books: readonly AddressBook[];

  /** Reads blocks of `db`. `rebuilt` contains all blocks before the first one to read. */
  constructor(db: Db, rebuilt: Db) {
    this.db = db;
    this.books = [new AddressBook(rebuilt, ADDRESSES_KEPT), new AddressBook(db, ADDRESSES_KEPT)];
    this.transfers = prepareTransfers(db);
    this.partiesOf = prepareBlockParties(db);
  }

  /** Blocks `from..to`, whose checksums are valid, with at most this many transfers, but at least one block. */
  read(from: number, to: number, transfers: number): BlockBatch {
    const out = new BatchBuilder();
    let number = from;
    for (; number <= to && out.transferCount <= transfers; number++) this.add(out, number);
    return { ...out.finish(true), gaps: gapsBetween(this.db, { first: from, last: number - 1 }) };
  }

  private add(out: BatchBuilder, number: number): void {
    const tip = readLastBlock(this.db, number);
    if (tip?.number !== number) throw new DamageError(`block ${number} is missing`);
    const before = readLastBlock(this.db, number - 1);
    const rows = this.transfers.range((before?.lastTransfer ?? 0) + 1, tip.lastTransfer + 1);
    const parties = this.partiesOf([number]).get(number);
    const pairs = rows.map(({ id, eventIndex }) => (eventIndex === 0 ? (parties?.of(id) ?? null) : null));
    const others = pairs.flatMap((pair) => (pair === null ? [] : walletsOfPair(pair)));
    for (const book of this.books) book.load(rows, others);
    for (const [i, row] of rows.entries()) {
      if (row.eventIndex === 0) this.beginTransaction(out, row, pairs[i]!, (k) => rows[i + k]);
      out.push(
        row.kind,
        this.address('wallets', row.sender),
        this.address('wallets', row.receiver),
        row.token === 0 ? '' : this.address('tokens', row.token),
        row.logIndex ?? -1,
        row.amount,
        0,
        row.amount.length,
        row.tokenNumber,
      );
    }
    out.endBlock(number, tip.hash, hashAt(this.db, number - 1) ?? `0x${'00'.repeat(32)}`, tip.timestamp);
  }

  /** Unknown parties are those of the zero address, which are not stored again. */
  private beginTransaction(
    out: BatchBuilder,
    { txHash, id }: StoredTransfer,
    pair: PackedPair | null,
    rowAt: (i: number) => StoredTransfer | undefined,
  ): void {
    const parties =
      pair &&
      addressesOfPair(pair, {
        transferAt(i) {
          const row = rowAt(i);
          return row !== undefined && row.id - row.eventIndex === id ? row : undefined;
        },
        walletAddress: (wallet) => this.address('wallets', wallet),
        contractOf: (token) => this.address('tokens', token),
      });
    const { from, to } = parties ?? { from: ZERO_DIGITS, to: ZERO_DIGITS };
    out.beginTransaction(`0x${txHash}`, `0x${from}`, `0x${to}`);
  }

  private address(what: 'wallets' | 'tokens', id: number): string {
    const [rebuilt, damaged] = this.books;
    return rebuilt![what].find(id) ?? damaged![what].of(id);
  }
}
