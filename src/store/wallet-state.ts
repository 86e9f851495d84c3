/**
 * Rows of `wallets` while a commit changes them: loaded once, changed in memory, written once in key order.
 *
 * The newest transfers of a wallet are its open page, in `wallets.recent`. A full page moves to `activity` and never
 * changes again.
 */
import { bigIntToBytes, bytesToBigInt } from '../lib/hex.ts';
import type { Db, Statement } from './open-database.ts';
import { PagePool } from './page-pool.ts';
import { RowWriter } from './row-writer.ts';
import { ADDRESS_BYTES } from './schema.ts';
import { DamageError } from './storage-error.ts';
import { ENTRIES_PER_PAGE, HistoryCursor, maxEntryBytes, writeEntry } from './wallet-history.ts';

/** A row in the driver's raw mode, in the order of COLUMNS: reading it takes half the time of an object. */
type WalletRow = [
  id: number,
  transfers: number,
  transactions: number,
  tokens: number,
  tokenTransfers: number,
  internalReceived: number,
  firstTransfer: number | null,
  lastTransfer: number | null,
  firstDirect: number | null,
  firstInternal: number | null,
  latestDirect: number | null,
  latestInternal: number | null,
  funder: number | null,
  funding: number | null,
  funded: number,
  receivedLength: number,
  sentLength: number,
  blobs: Buffer,
];

const COLUMNS = /* sql */ `id, transfers, transactions, tokens, token_transfers, internal_received, first_transfer,
  last_transfer, first_direct, first_internal, latest_direct, latest_internal, funder, funding, funded`;

/** Reads the three blobs of a row as one, because creating a Buffer costs more than reading its bytes. */
const BLOBS = /* sql */ `length(native_received), length(native_sent),
  CAST(native_received || native_sent || recent AS BLOB)`;

const NO_BYTES = new Uint8Array(0);

/** Free bytes after a loaded page: enough for what most wallets add in a commit. */
const SPARE_BYTES = 64;

/** One wallet's row, changed in place. Field meanings: store/schema.ts. */
export class WalletState {
  transfers = 0;
  transactions = 0;
  tokens = 0;
  tokenTransfers = 0;
  internalReceived = 0;
  firstTransfer: number | null = null;
  lastTransfer: number | null = null;
  nativeReceived = 0n;
  nativeSent = 0n;
  firstDirect: number | null = null;
  firstInternal: number | null = null;
  latestDirect: number | null = null;
  latestInternal: number | null = null;
  funder: number | null = null;
  funding: number | null = null;
  funded = 0;
  /** The open page starts at `start` in `chunk` and may grow to `capacity` bytes. A view object would be as large as a page. */
  private chunk: Uint8Array = NO_BYTES;
  private start = 0;
  private capacity = 0;
  private recentLength = 0;
  /** First transfer of the last counted transaction, so that each transaction counts once. */
  countedTransaction = 0;
  readonly id: number;
  /** The buffer that holds the address. One view per wallet would survive for half of the commit. */
  private readonly addressBuffer: ArrayBufferLike;
  private readonly addressOffset: number;
  private readonly pool: PagePool;
  /** Funder and funding in the stored row. */
  storedFunder: number | null = null;
  storedFunding: number | null = null;

  /** The state of a stored row. */
  static fromRow(
    row: readonly [...WalletRow, ...unknown[]],
    address: Uint8Array,
    pool: PagePool,
  ): WalletState {
    const wallet = new WalletState(row[0], address, pool);
    wallet.transfers = row[1];
    wallet.transactions = row[2];
    wallet.tokens = row[3];
    wallet.tokenTransfers = row[4];
    wallet.internalReceived = row[5];
    wallet.firstTransfer = row[6];
    wallet.lastTransfer = row[7];
    wallet.firstDirect = row[8];
    wallet.firstInternal = row[9];
    wallet.latestDirect = row[10];
    wallet.latestInternal = row[11];
    wallet.funder = row[12];
    wallet.funding = row[13];
    wallet.storedFunder = row[12];
    wallet.storedFunding = row[13];
    wallet.funded = row[14];
    const sentAt = row[15];
    const recentAt = sentAt + row[16];
    const blobs = row[17];
    wallet.nativeReceived = bytesToBigInt(blobs.subarray(0, sentAt));
    wallet.nativeSent = bytesToBigInt(blobs.subarray(sentAt, recentAt));
    wallet.recentLength = blobs.length - recentAt;
    wallet.copyRecent(blobs, recentAt, wallet.recentLength + SPARE_BYTES);
    return wallet;
  }

  /** A wallet without transfers. The buffer of `address` is kept and must not change. */
  constructor(id: number, address: Uint8Array, pool: PagePool) {
    this.id = id;
    this.addressBuffer = address.buffer;
    this.addressOffset = address.byteOffset;
    this.pool = pool;
  }

  /** 20 bytes. */
  get address(): Uint8Array {
    return new Uint8Array(this.addressBuffer, this.addressOffset, ADDRESS_BYTES);
  }

  /** Entries in the open page. */
  get recentCount(): number {
    return this.transfers === 0 ? 0 : ((this.transfers - 1) % ENTRIES_PER_PAGE) + 1;
  }

  /** The open page. Valid until the next change. */
  get recent(): Uint8Array {
    return this.chunk.subarray(this.start, this.start + this.recentLength);
  }

  /** Makes a finished page the open one. */
  reopen(page: Uint8Array): void {
    this.chunk = page;
    this.start = 0;
    this.capacity = page.length;
    this.recentLength = page.length;
  }

  /** Shortens the open page. */
  truncateRecent(length: number): void {
    this.recentLength = length;
  }

  /**
   * Adds an entry for transfer `id` and counts it. Returns the open page if it was full, for the caller to store.
   * Ids must ascend.
   */
  addEntry(id: number, flags: number, counterparty: number, wei: Uint8Array | null): FinishedPage | null {
    const full = this.recentCount === ENTRIES_PER_PAGE;
    const finished = full
      ? {
          wallet: this.id,
          first: firstTransferOf(this.recent, this.firstTransfer ?? 0),
          entries: this.recent.slice(),
        }
      : null;
    if (full) this.recentLength = 0;
    this.ensureCapacity(maxEntryBytes(wei));
    this.firstTransfer ??= id;
    const before = this.recentLength === 0 ? this.firstTransfer : (this.lastTransfer ?? 0);
    const at = this.start + this.recentLength;
    this.recentLength = writeEntry(this.chunk, at, id - before, flags, counterparty, wei) - this.start;
    this.transfers++;
    this.lastTransfer = id;
    return finished;
  }

  private ensureCapacity(bytes: number): void {
    if (this.recentLength + bytes > this.capacity)
      this.copyRecent(this.chunk, this.start, 2 * this.capacity + SPARE_BYTES);
  }

  /** Copies the open page into a slot of `capacity` bytes. */
  private copyRecent(from: Uint8Array, start: number, capacity: number): void {
    this.pool.allocate(capacity);
    this.chunk = this.pool.chunk;
    this.start = this.pool.start;
    this.capacity = capacity;
    this.chunk.set(from.subarray(start, start + this.recentLength), this.start);
  }
}

/** A full page on its way into the `activity` table. */
export interface FinishedPage {
  wallet: number;
  first: number;
  entries: Uint8Array;
}

const firstEntry = new HistoryCursor();
function firstTransferOf(bytes: Uint8Array, base: number): number {
  firstEntry.open(bytes, base).next();
  return firstEntry.transfer;
}

/** The statements on `wallets` and `activity` that a commit needs. */
export class WalletTable {
  private readonly pool = new PagePool();
  private readonly byId: Statement<[number], [...row: WalletRow, address: Buffer]>;
  private readonly byIdAndAddress: Statement<[number, Uint8Array], WalletRow>;
  private readonly rows: RowWriter;
  private readonly insertPage: Statement;

  constructor(db: Db) {
    this.byId = db
      .prepare<[number], [...row: WalletRow, address: Buffer]>(
        `SELECT ${COLUMNS}, ${BLOBS}, address FROM wallets WHERE id = ?`,
      )
      .raw();
    this.byIdAndAddress = db
      .prepare<[number, Uint8Array], WalletRow>(
        `SELECT ${COLUMNS}, ${BLOBS} FROM wallets WHERE id = ? AND address = ?`,
      )
      .raw();
    this.rows = new RowWriter(
      db,
      /* sql */ `
      REPLACE INTO wallets (id, address, transfers, transactions, tokens, token_transfers, internal_received,
        native_received, native_sent, funder, funded, first_transfer, last_after, first_direct_after,
        first_internal_after, latest_direct_after, latest_internal_after, recent)
      VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
    );
    this.insertPage = db.prepare('INSERT INTO activity (wallet, first_transfer, entries) VALUES (?, ?, ?)');
  }

  /** Begins a commit. Invalidates the wallets of the previous one, written or not. */
  begin(): void {
    this.pool.reset();
    this.rows.reset();
  }

  /** A wallet that is not in the table yet. */
  create(id: number, address: Uint8Array): WalletState {
    return new WalletState(id, address, this.pool);
  }

  load(id: number): WalletState {
    const row = this.byId.get(id);
    if (!row) throw new DamageError(`the index refers to wallet ${id}, which has no row`);
    return WalletState.fromRow(row, row[18], this.pool);
  }

  /** The wallet with this id, undefined unless it has this address. */
  loadIfAddressMatches(id: number, address: Uint8Array): WalletState | undefined {
    const row = this.byIdAndAddress.get(id, address);
    return row && WalletState.fromRow(row, address, this.pool);
  }

  save(wallet: WalletState): void {
    const { firstTransfer, firstDirect, firstInternal } = wallet;
    this.rows.add(
      wallet.id,
      wallet.address,
      wallet.transfers,
      wallet.transactions,
      wallet.tokens,
      wallet.tokenTransfers,
      wallet.internalReceived,
      bigIntToBytes(wallet.nativeReceived),
      bigIntToBytes(wallet.nativeSent),
      wallet.funder,
      wallet.funded,
      firstTransfer,
      delta(firstTransfer, wallet.lastTransfer),
      delta(firstTransfer, firstDirect),
      delta(firstTransfer, firstInternal),
      delta(firstDirect, wallet.latestDirect),
      delta(firstInternal, wallet.latestInternal),
      wallet.recent,
    );
  }

  /** Call it after saving all wallets of a commit. */
  flush(): void {
    this.rows.flush();
  }

  savePage(page: FinishedPage): void {
    this.insertPage.run(page.wallet, page.first, page.entries);
  }
}

/** `to` minus `from`; null when either is null. */
function delta(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : to - from;
}
