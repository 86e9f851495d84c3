/** Reads and writes rows of `wallets`, and those of `activity`. */
import type { Db, Statement } from '../open-database.ts';
import { PageTable } from '../paged-history.ts';
import { RowReader, RowWriter } from '../rows.ts';
import { DamageError } from '../storage-error.ts';
import { WALLET_HISTORY } from '../wallet-history.ts';
import type { WalletState } from './wallet-state.ts';
import { WalletStates } from './wallet-states.ts';

/** A row in the driver's raw mode, in the order of COLUMNS: twice as fast to read as an object. */
type WalletRow = [
  place: number,
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
  blobs: string,
];

const COLUMNS = /* sql */ `transfers, transactions, tokens, token_transfers, internal_received, first_transfer,
  last_transfer, first_direct, first_internal, latest_direct, latest_internal, funder, funding, funded`;

/** The three blobs of a row as one text of hex digits. */
const BLOBS = /* sql */ `length(native_received), length(native_sent),
  hex(native_received || native_sent || recent)`;

/** Room for the blobs of a row: a history page and two sums. */
const BLOB_BYTES = 8_192;

/** A wallet to read: its id and its address. */
interface WalletKey {
  id: number;
  address: Uint8Array;
}

/** The statements on `wallets` and `activity` that commits and rollbacks need, and the wallets in memory. */
export class WalletTable {
  readonly states = new WalletStates();
  readonly pages: PageTable;
  private readonly byId: RowReader<WalletRow>;
  private readonly addressOf: Statement<[number], Buffer>;
  private readonly funders: RowReader<[place: number, funder: number | null]>;
  private readonly blobs = Buffer.allocUnsafeSlow(BLOB_BYTES);
  private readonly rows: RowWriter;

  constructor(db: Db) {
    this.byId = new RowReader(db, 1, `${COLUMNS}, ${BLOBS}`, 'wallets ON id = k.column2');
    this.addressOf = db.prepare<[number], Buffer>('SELECT address FROM wallets WHERE id = ?').pluck();
    this.funders = new RowReader(
      db,
      2,
      'CASE WHEN first_direct_after IS NULL THEN funder ELSE -1 END',
      'wallets ON id = k.column2 AND address = k.column3',
    );
    this.rows = new RowWriter(
      db,
      /* sql */ `
      REPLACE INTO wallets (id, address, transfers, transactions, tokens, token_transfers, internal_received,
        native_received, native_sent, funder, funded, first_transfer, last_after, first_direct_after,
        first_internal_after, latest_direct_after, latest_internal_after, recent)
      VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
    );
    this.pages = new PageTable(db, WALLET_HISTORY);
  }

  /** Drops the wallets in memory, written or not. */
  begin(): void {
    this.states.reset();
    this.rows.reset();
  }

  /** Loads a stored wallet. */
  load(id: number): WalletState {
    const address = this.addressOf.get(id);
    if (address === undefined) throw missingRow(id);
    return this.loadAll([{ id, address }])[0]!;
  }

  /** Loads stored wallets, in the order of `keys`. */
  loadAll(keys: readonly WalletKey[]): WalletState[] {
    const loaded: WalletState[] = [];
    this.byId.read(
      keys.map(({ id }) => id),
      (row, place) => {
        const { id, address } = keys[place]!;
        const wallet = this.states.add(id, address);
        this.fill(wallet, row);
        loaded[place] = wallet;
      },
    );
    for (const [place, { id }] of keys.entries()) if (loaded[place] === undefined) throw missingRow(id);
    return loaded;
  }

  /**
   * Calls `found` with the position of each key whose wallet has that address, and with its funder: null without one,
   * -1 if a direct transfer funded the wallet.
   */
  readFunders(keys: readonly WalletKey[], found: (funder: number | null, place: number) => void): void {
    this.funders.read(
      keys.flatMap(({ id, address }) => [id, address]),
      ([, funder], place) => found(funder, place),
    );
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

  private fill(wallet: WalletState, row: WalletRow): void {
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
    wallet.funded = row[14];
    wallet.loadStored(row[15], row[16], this.bytesOf(row[17]));
  }

  /** The bytes of hex digits, valid until the next call. */
  private bytesOf(hex: string): Uint8Array {
    if (hex.length > 2 * BLOB_BYTES) return Buffer.from(hex, 'hex');
    return this.blobs.subarray(0, this.blobs.write(hex, 'hex'));
  }
}

function missingRow(id: number): DamageError {
  return new DamageError(`the index refers to wallet ${id}, which has no row`);
}

/** `to` minus `from`; null when either is null. */
function delta(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : to - from;
}
