/** Rows of `wallets` while a commit changes them: loaded once, changed in memory, written once in key order. */
import { bigIntToBytes, bytesToBigInt } from '../lib/hex.ts';
import { ACTIVITY_RUN, ActivityCursor, MAX_ENTRY_BYTES, writeEntry } from './activity.ts';
import type { Db, Statement } from './open.ts';

/** A row as the driver's raw mode gives it, in the order of COLUMNS: twice as fast to read as an object. */
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

/** The three blobs of a row as one: what they cost is the making of a Buffer each. */
const BLOBS = /* sql */ `length(native_received), length(native_sent),
  CAST(native_received || native_sent || recent AS BLOB)`;

const NO_BYTES = new Uint8Array(0);

const BLOCK_BYTES = 2 ** 18;

/** Memory for the runs of a commit, cut from large blocks: a buffer of its own for each costs more than all else done to it. */
class Arena {
  private block = new Uint8Array(BLOCK_BYTES);
  private used = 0;

  take(bytes: number): Uint8Array {
    if (this.used + bytes > this.block.length) {
      this.block = new Uint8Array(Math.max(BLOCK_BYTES, bytes));
      this.used = 0;
    }
    this.used += bytes;
    return this.block.subarray(this.used - bytes, this.used);
  }
}

const arena = new Arena();

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
  /** The unfinished run; only `recentLength` bytes of it count. */
  recent: Uint8Array = NO_BYTES;
  recentLength = 0;
  /** First transfer of the transaction counted last, so that each transaction counts once. */
  countedTransaction = 0;
  readonly id: number;
  /** 20 bytes when the row is not in the table yet, else null. */
  readonly newAddress: Uint8Array | null;
  /** What the row in the table has. */
  storedFunder: number | null = null;
  storedFunding: number | null = null;

  /** The state of a stored row. */
  static of(row: WalletRow): WalletState {
    const wallet = new WalletState(row[0], null);
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
    wallet.recent = blobs.subarray(recentAt);
    wallet.recentLength = wallet.recent.length;
    return wallet;
  }

  /** A wallet without transfers; `newAddress` when it is not in the table yet. */
  constructor(id: number, newAddress: Uint8Array | null) {
    this.id = id;
    this.newAddress = newAddress;
  }

  /** Entries in the unfinished run. */
  get recentCount(): number {
    return this.transfers === 0 ? 0 : ((this.transfers - 1) % ACTIVITY_RUN) + 1;
  }

  /**
   * Adds an entry for transfer `id`, counting it; when the run was full it is returned to be stored as finished.
   * Entries must come in ascending order of id.
   */
  addEntry(id: number, flags: number, other: number, wei: Uint8Array | null): FinishedRun | null {
    const full = this.recentCount === ACTIVITY_RUN;
    const finished = full
      ? {
          wallet: this.id,
          first: firstOfRun(this.recent, this.firstTransfer ?? 0),
          entries: new Uint8Array(this.recent.subarray(0, this.recentLength)),
        }
      : null;
    if (full) this.recentLength = 0;
    this.reserve(MAX_ENTRY_BYTES);
    this.firstTransfer ??= id;
    const before = this.recentLength === 0 ? this.firstTransfer : (this.lastTransfer ?? 0);
    this.recentLength = writeEntry(this.recent, this.recentLength, id - before, flags, other, wei);
    this.transfers++;
    this.lastTransfer = id;
    return finished;
  }

  private reserve(bytes: number): void {
    if (this.recentLength + bytes <= this.recent.length) return;
    const larger = arena.take(Math.max(this.recentLength + bytes, this.recent.length * 2));
    larger.set(this.recent.subarray(0, this.recentLength));
    this.recent = larger;
  }
}

/** A full run on its way into the `activity` table. */
export interface FinishedRun {
  wallet: number;
  first: number;
  entries: Uint8Array;
}

const firstEntry = new ActivityCursor();
function firstOfRun(bytes: Uint8Array, base: number): number {
  firstEntry.open(bytes, base).next();
  return firstEntry.transfer;
}

/** The statements on `wallets` and `activity` that a commit needs. */
export class WalletTable {
  private readonly byId: Statement<[number], WalletRow>;
  private readonly byIdAndAddress: Statement<[number, Uint8Array], WalletRow>;
  private readonly insert: Statement;
  private readonly update: Statement;
  private readonly insertRun: Statement;

  constructor(db: Db) {
    const select = /* sql */ `SELECT ${COLUMNS}, ${BLOBS} FROM wallets WHERE id = ?`;
    this.byId = db.prepare<[number], WalletRow>(select).raw();
    this.byIdAndAddress = db.prepare<[number, Uint8Array], WalletRow>(`${select} AND address = ?`).raw();
    this.insert = db.prepare(/* sql */ `
      INSERT INTO wallets (id, address, transfers, transactions, tokens, token_transfers, internal_received,
        native_received, native_sent, funder, funded, first_transfer, last_after, first_direct_after,
        first_internal_after, latest_direct_after, latest_internal_after, recent)
      VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`);
    this.update = db.prepare(/* sql */ `
      UPDATE wallets SET transfers = ?, transactions = ?, tokens = ?, token_transfers = ?, internal_received = ?,
        native_received = ?, native_sent = ?, funder = ?, funded = ?, first_transfer = ?, last_after = ?,
        first_direct_after = ?, first_internal_after = ?, latest_direct_after = ?, latest_internal_after = ?, recent = ?
      WHERE id = ?`);
    this.insertRun = db.prepare('INSERT INTO activity (wallet, first_transfer, entries) VALUES (?, ?, ?)');
  }

  load(id: number): WalletState {
    const row = this.byId.get(id);
    if (!row) throw new Error(`wallet ${id} is named by the index but has no row: the index is damaged`);
    return WalletState.of(row);
  }

  /** The wallet, if that is its address. */
  loadIf(id: number, address: Uint8Array): WalletState | undefined {
    const row = this.byIdAndAddress.get(id, address);
    return row && WalletState.of(row);
  }

  /** The columns are written out twice: lists of them, put together for each row, took part of a commit's time. */
  save(wallet: WalletState): void {
    const recent = wallet.recent.subarray(0, wallet.recentLength);
    const received = bigIntToBytes(wallet.nativeReceived);
    const sent = bigIntToBytes(wallet.nativeSent);
    const { firstTransfer, firstDirect, firstInternal } = wallet;
    const lastAfter = distance(firstTransfer, wallet.lastTransfer);
    const firstDirectAfter = distance(firstTransfer, firstDirect);
    const firstInternalAfter = distance(firstTransfer, firstInternal);
    const latestDirectAfter = distance(firstDirect, wallet.latestDirect);
    const latestInternalAfter = distance(firstInternal, wallet.latestInternal);
    if (wallet.newAddress !== null) {
      this.insert.run(
        wallet.id,
        wallet.newAddress,
        wallet.transfers,
        wallet.transactions,
        wallet.tokens,
        wallet.tokenTransfers,
        wallet.internalReceived,
        received,
        sent,
        wallet.funder,
        wallet.funded,
        firstTransfer,
        lastAfter,
        firstDirectAfter,
        firstInternalAfter,
        latestDirectAfter,
        latestInternalAfter,
        recent,
      );
      return;
    }
    this.update.run(
      wallet.transfers,
      wallet.transactions,
      wallet.tokens,
      wallet.tokenTransfers,
      wallet.internalReceived,
      received,
      sent,
      wallet.funder,
      wallet.funded,
      firstTransfer,
      lastAfter,
      firstDirectAfter,
      firstInternalAfter,
      latestDirectAfter,
      latestInternalAfter,
      recent,
      wallet.id,
    );
  }

  saveRun(run: FinishedRun): void {
    this.insertRun.run(run.wallet, run.first, run.entries);
  }
}

/** From one fact to another, null without the other. */
function distance(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : to - from;
}
