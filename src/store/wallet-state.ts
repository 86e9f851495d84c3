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
  nativeReceived: Buffer,
  nativeSent: Buffer,
  firstDirect: number | null,
  firstInternal: number | null,
  latestDirect: number | null,
  latestInternal: number | null,
  funder: number | null,
  funding: number | null,
  funded: number,
  recent: Buffer,
];

const COLUMNS = /* sql */ `id, transfers, transactions, tokens, token_transfers, internal_received, first_transfer,
  last_transfer, native_received, native_sent, first_direct, first_internal, latest_direct, latest_internal, funder,
  funding, funded, recent`;

const NO_BYTES = new Uint8Array(0);

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
  private storedFunding: number | null = null;

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
    wallet.nativeReceived = bytesToBigInt(row[8]);
    wallet.nativeSent = bytesToBigInt(row[9]);
    wallet.firstDirect = row[10];
    wallet.firstInternal = row[11];
    wallet.latestDirect = row[12];
    wallet.latestInternal = row[13];
    wallet.funder = row[14];
    wallet.funding = row[15];
    wallet.funded = row[16];
    wallet.recent = row[17];
    wallet.recentLength = row[17].length;
    wallet.storedFunding = row[15];
    return wallet;
  }

  /** A wallet without transfers; `newAddress` when it is not in the table yet. */
  constructor(id: number, newAddress: Uint8Array | null) {
    this.id = id;
    this.newAddress = newAddress;
  }

  get fundingChanged(): boolean {
    return this.funding !== this.storedFunding;
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
          first: firstOfRun(this.recent),
          entries: new Uint8Array(this.recent.subarray(0, this.recentLength)),
        }
      : null;
    if (full) this.recentLength = 0;
    this.reserve(MAX_ENTRY_BYTES);
    const distance = this.recentLength === 0 ? id : id - (this.lastTransfer ?? 0);
    this.recentLength = writeEntry(this.recent, this.recentLength, distance, flags, other, wei);
    this.transfers++;
    this.firstTransfer ??= id;
    this.lastTransfer = id;
    return finished;
  }

  private reserve(bytes: number): void {
    if (this.recentLength + bytes <= this.recent.length) return;
    const larger = new Uint8Array(Math.max(this.recentLength + bytes, this.recent.length * 2));
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
function firstOfRun(bytes: Uint8Array): number {
  firstEntry.open(bytes).next();
  return firstEntry.transfer;
}

/** The statements on `wallets` and `activity` that a commit needs. */
export class WalletTable {
  private readonly byAddress: Statement<[Uint8Array], WalletRow>;
  private readonly byId: Statement<[number], WalletRow>;
  private readonly insert: Statement;
  private readonly update: Statement;
  private readonly updateFunding: Statement;
  private readonly insertRun: Statement;

  constructor(db: Db) {
    this.byAddress = db
      .prepare<[Uint8Array], WalletRow>(/* sql */ `SELECT ${COLUMNS} FROM wallets WHERE address = ?`)
      .raw();
    this.byId = db
      .prepare<[number], WalletRow>(/* sql */ `SELECT ${COLUMNS} FROM wallets WHERE id = ?`)
      .raw();
    this.insert = db.prepare(
      /* sql */ `INSERT INTO wallets (address, ${COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
    );
    this.update = db.prepare(/* sql */ `
      UPDATE wallets SET transfers = ?, transactions = ?, tokens = ?, token_transfers = ?, internal_received = ?,
        first_transfer = ?, last_transfer = ?, native_received = ?, native_sent = ?, first_direct = ?,
        first_internal = ?, latest_direct = ?, latest_internal = ?, funded = ?, recent = ?
      WHERE id = ?`);
    // Apart from the update above because naming an indexed column rewrites its index entry even when nothing changed.
    this.updateFunding = db.prepare('UPDATE wallets SET funder = ?, funding = ? WHERE id = ?');
    this.insertRun = db.prepare('INSERT INTO activity (wallet, first_transfer, entries) VALUES (?, ?, ?)');
  }

  findByAddress(address: Uint8Array): WalletState | null {
    const row = this.byAddress.get(address);
    return row ? WalletState.of(row) : null;
  }

  load(id: number): WalletState {
    const row = this.byId.get(id);
    if (!row) throw new Error(`wallet ${id} is named by the index but has no row: the index is damaged`);
    return WalletState.of(row);
  }

  save(wallet: WalletState): void {
    const recent = wallet.recent.subarray(0, wallet.recentLength);
    const received = bigIntToBytes(wallet.nativeReceived);
    const sent = bigIntToBytes(wallet.nativeSent);
    const counters = [
      wallet.transfers,
      wallet.transactions,
      wallet.tokens,
      wallet.tokenTransfers,
      wallet.internalReceived,
    ];
    const facts = [wallet.firstTransfer, wallet.lastTransfer, received, sent];
    const funding = [wallet.firstDirect, wallet.firstInternal, wallet.latestDirect, wallet.latestInternal];
    if (wallet.newAddress !== null) {
      this.insert.run(
        wallet.newAddress,
        wallet.id,
        ...counters,
        ...facts,
        ...funding,
        wallet.funder,
        wallet.funding,
        wallet.funded,
        recent,
      );
      return;
    }
    this.update.run(...counters, ...facts, ...funding, wallet.funded, recent, wallet.id);
    if (wallet.fundingChanged) this.updateFunding.run(wallet.funder, wallet.funding, wallet.id);
  }

  saveRun(run: FinishedRun): void {
    this.insertRun.run(run.wallet, run.first, run.entries);
  }
}
