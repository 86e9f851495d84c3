/** Reads and writes rows of `wallets`; writes rows of `activity`. */
import type { Db, Statement } from '../open-database.ts';
import { RowWriter } from '../row-writer.ts';
import { DamageError } from '../storage-error.ts';
import type { FinishedPage, WalletState } from './wallet-state.ts';
import { WalletStates } from './wallet-states.ts';

/** A row in the driver's raw mode, in the order of COLUMNS: twice as fast to read as an object. */
type WalletRow = [
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

const COLUMNS = /* sql */ `transfers, transactions, tokens, token_transfers, internal_received, first_transfer,
  last_transfer, first_direct, first_internal, latest_direct, latest_internal, funder, funding, funded`;

/** Reads the three blobs of a row as one, because creating a Buffer costs more than reading its bytes. */
const BLOBS = /* sql */ `length(native_received), length(native_sent),
  CAST(native_received || native_sent || recent AS BLOB)`;

/** The statements on `wallets` and `activity` that commits and rollbacks need, and the wallets in memory. */
export class WalletTable {
  readonly states = new WalletStates();
  private readonly byId: Statement<[number], WalletRow>;
  private readonly addressOf: Statement<[number], Buffer>;
  private readonly funderOf: Statement<[number, Uint8Array], number | null>;
  private readonly rows: RowWriter;
  private readonly insertPage: Statement;

  constructor(db: Db) {
    this.byId = db
      .prepare<[number], WalletRow>(`SELECT ${COLUMNS}, ${BLOBS} FROM wallets WHERE id = ?`)
      .raw();
    this.addressOf = db.prepare<[number], Buffer>('SELECT address FROM wallets WHERE id = ?').pluck();
    this.funderOf = db
      .prepare<[number, Uint8Array], number | null>(/* sql */ `
        SELECT CASE WHEN first_direct_after IS NULL THEN funder ELSE -1 END FROM wallets WHERE id = ? AND address = ?`)
      .pluck();
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

  /** Drops the wallets in memory, written or not. */
  begin(): void {
    this.states.reset();
    this.rows.reset();
  }

  /** Loads a stored wallet. `address` saves a read if it is known. */
  load(id: number, address: Uint8Array | undefined = this.addressOf.get(id)): WalletState {
    const row = this.byId.get(id);
    if (row === undefined || address === undefined)
      throw new DamageError(`the index refers to wallet ${id}, which has no row`);
    const wallet = this.states.add(id, address);
    fill(wallet, row);
    return wallet;
  }

  /**
   * The funder of wallet `id`: null without one, -1 if a direct transfer funded it; undefined when the wallet has another
   * address.
   */
  funderIfAddressMatches(id: number, address: Uint8Array): number | null | undefined {
    return this.funderOf.get(id, address);
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
      wallet.nativeReceived,
      wallet.nativeSent,
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

  /** Writes the rows that `save` buffers. Call it before the wallets are dropped. */
  flush(): void {
    this.rows.flush();
  }

  savePage(page: FinishedPage): void {
    this.insertPage.run(page.wallet, page.first, page.entries);
  }
}

function fill(wallet: WalletState, row: WalletRow): void {
  wallet.transfers = row[0];
  wallet.transactions = row[1];
  wallet.tokens = row[2];
  wallet.tokenTransfers = row[3];
  wallet.internalReceived = row[4];
  wallet.firstTransfer = row[5];
  wallet.lastTransfer = row[6];
  wallet.firstDirect = row[7];
  wallet.firstInternal = row[8];
  wallet.latestDirect = row[9];
  wallet.latestInternal = row[10];
  wallet.funder = row[11];
  wallet.funding = row[12];
  wallet.funded = row[13];
  wallet.loadStored(row[14], row[15], row[16]);
}

/** `to` minus `from`; null when either is null. */
function delta(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : to - from;
}
