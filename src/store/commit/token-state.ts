/** Rows of `tokens` and `holdings` while a commit changes them. */

import { isPositive } from '../../lib/signed.ts';
import { sumsOwnForm } from '../index-rules.ts';
import { type Db, highest, type Statement } from '../open-database.ts';
import { RowReader, RowWriter } from '../rows.ts';
import { ZERO_WALLET } from '../schema.ts';
import { scratchOfHex } from '../scratch.ts';
import { DamageError } from '../storage-error.ts';
import { HoldingPeakTable, LARGE_TOKEN_WALLETS, PeakChanges } from '../tokens/holding-peaks.ts';
import { HoldingChanges } from './holding-changes.ts';
import type { WalletState } from './wallet-state.ts';
import type { WalletStates } from './wallet-states.ts';
import type { WideSums } from './wide-sums.ts';

interface TokenRow {
  id: number;
  wallet: number;
  transfers: number;
  holders: number;
  wallets: number;
  buyers: number;
  first_transfer: number;
  kind: number;
}

/** One token's row. */
export class TokenState {
  transfers: number;
  holders: number;
  wallets: number;
  buyers: number;
  readonly id: number;
  readonly wallet: number;
  readonly firstTransfer: number;
  readonly kind: number;
  readonly isStored: boolean;
  /** Changes to its peaks; null unless the stored token is large. */
  readonly peakChanges: PeakChanges | null;

  /** A token before its first transfer is counted. */
  static create(row: Pick<TokenRow, 'id' | 'wallet' | 'first_transfer' | 'kind'>): TokenState {
    return new TokenState({ ...row, transfers: 0, holders: 0, wallets: 0, buyers: 0 }, false);
  }

  constructor(row: TokenRow, isStored: boolean) {
    this.id = row.id;
    this.wallet = row.wallet;
    this.transfers = row.transfers;
    this.holders = row.holders;
    this.wallets = row.wallets;
    this.buyers = row.buyers;
    this.firstTransfer = row.first_transfer;
    this.kind = row.kind;
    this.isStored = isStored;
    this.peakChanges = isStored && row.wallets > LARGE_TOKEN_WALLETS ? new PeakChanges() : null;
  }
}

/** A row of `holdings`: its transfers, and its balance as hex digits. */
export type StoredHolding = [place: number, transfers: number, balance: string];

/** The statements on the token tables that a commit needs. */
export class TokenTable {
  private readonly db: Db;
  private readonly byWallet: Statement<[number], TokenRow>;
  private readonly byId: Statement<[number], TokenRow>;
  private readonly insert: Statement;
  private readonly update: Statement;
  private readonly stored: RowReader<StoredHolding>;
  private readonly holdings: RowWriter;
  private readonly changes = new HoldingChanges();
  private readonly deleteHolding: Statement;
  private readonly peaks: HoldingPeakTable;

  constructor(db: Db) {
    this.db = db;
    this.peaks = new HoldingPeakTable(db);
    const columns = 'id, wallet, transfers, holders, wallets, buyers, first_transfer, kind';
    this.byWallet = db.prepare(`SELECT ${columns} FROM tokens WHERE wallet = ?`);
    this.byId = db.prepare(`SELECT ${columns} FROM tokens WHERE id = ?`);
    this.insert = db.prepare(`INSERT INTO tokens (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.update = db.prepare(
      'UPDATE tokens SET transfers = ?, holders = ?, wallets = ?, buyers = ? WHERE id = ?',
    );
    this.stored = new RowReader(
      db,
      2,
      'transfers, hex(balance)',
      'holdings ON token = k.column2 AND wallet = k.column3',
    );
    this.holdings = new RowWriter(
      db,
      'REPLACE INTO holdings (token, wallet, transfers, balance) VALUES (?, ?, ?, ?)',
    );
    this.deleteHolding = db.prepare('DELETE FROM holdings WHERE token = ? AND wallet = ?');
  }

  /** Starts a new commit. */
  begin(): void {
    this.changes.reset();
    this.holdings.reset();
  }

  /** Whether holdings sum only the transfers of the token's own form. */
  sumsOwnForm(): boolean {
    return sumsOwnForm(this.db);
  }

  /** Highest tokens.id, 0 when there is none. */
  lastId(): number {
    return highest(this.db, 'tokens');
  }

  findByWallet(wallet: number): TokenState | null {
    const row = this.byWallet.get(wallet);
    return row ? new TokenState(row, true) : null;
  }

  load(id: number): TokenState {
    const row = this.byId.get(id);
    if (!row) throw new DamageError(`the index refers to token ${id}, which has no row`);
    return new TokenState(row, true);
  }

  /** Adds to a wallet's balance of the token and to its transfer count. */
  addToHolding(token: TokenState, wallet: WalletState, amount: Uint8Array, transfers: number): void {
    const { changes } = this;
    changes.sums.add(
      changes.balanceAt(changes.change(token.id, wallet, transfers)),
      amount,
      0,
      amount.length,
    );
  }

  subtractFromHolding(token: TokenState, wallet: WalletState, amount: Uint8Array, transfers: number): void {
    const { sums } = this.changes;
    const at = this.changes.balanceAt(this.changes.change(token.id, wallet, transfers));
    sums.subtract(at, amount, 0, amount.length);
  }

  /**
   * Writes the tokens' rows and the touched holdings in key order. Updates the token counts of
   * the wallets, whose rows are written later.
   */
  save(tokens: ReadonlyMap<number, TokenState>, wallets: WalletStates): void {
    const { changes } = this;
    const holdings = changes.inOrder();
    let next = 0;
    for (const id of [...tokens.keys()].sort((a, b) => a - b)) {
      const token = tokens.get(id)!;
      for (; next < holdings.length && changes.tokenOf(holdings[next]!) === id; next++) {
        const holding = holdings[next]!;
        const wallet = wallets.at(changes.walletSlotOf(holding));
        const [at, transfers] = [changes.balanceAt(holding), changes.transfersOf(holding)];
        const [stored] = this.readHoldings(token, [wallet.id]);
        wallet.tokens += this.saveHolding(token, wallet.id, stored, transfers, changes.sums, at);
      }
      this.saveToken(token);
    }
    this.flush();
  }

  /** The stored holdings of wallets in a token. Read them right before saving them, so that a page is fetched once. */
  readHoldings(token: TokenState, wallets: readonly number[]): (StoredHolding | undefined)[] {
    const rows = new Array<StoredHolding | undefined>(wallets.length).fill(undefined);
    if (!token.isStored) return rows;
    this.stored.read(
      wallets.flatMap((wallet) => [token.id, wallet]),
      (row, place) => {
        rows[place] = row;
      },
    );
    return rows;
  }

  /**
   * Adds `transfers` and the sum at `at` to a holding, and deletes one without transfers left. Returns by how much the
   * wallet's number of tokens changes: 1, 0 or -1. Call it in key order, and `saveToken` after the holdings of a token.
   */
  saveHolding(
    token: TokenState,
    wallet: number,
    stored: StoredHolding | undefined,
    transfers: number,
    sums: WideSums,
    at: number,
  ): number {
    const before = stored === undefined ? null : scratchOfHex(stored[2]);
    if (before !== null) sums.addEncoded(at, before);
    const total = (stored?.[1] ?? 0) + transfers;
    const balance = total === 0 ? null : sums.encode(at);
    if (balance === null) this.deleteHolding.run(token.id, wallet);
    else this.holdings.add(token.id, wallet, total, balance);
    token.peakChanges?.record(wallet, before, balance);
    const holdingsDelta = Number(total > 0) - Number(before !== null);
    if (wallet === ZERO_WALLET) return holdingsDelta;
    token.wallets += holdingsDelta;
    const wasHolder = before !== null && isPositive(before);
    token.holders += Number(sums.sign(at) > 0) - Number(wasHolder);
    return holdingsDelta;
  }

  /** Writes a token's row and its peaks. */
  saveToken(token: TokenState): void {
    this.savePeaks(token);
    if (token.isStored)
      this.update.run(token.transfers, token.holders, token.wallets, token.buyers, token.id);
    else {
      this.insert.run(
        token.id,
        token.wallet,
        token.transfers,
        token.holders,
        token.wallets,
        token.buyers,
        token.firstTransfer,
        token.kind,
      );
    }
  }

  /** Call it after saving all tokens of a commit. */
  flush(): void {
    this.holdings.flush();
  }

  /** Must run after the token's holdings are saved. */
  private savePeaks(token: TokenState): void {
    const isLarge = token.wallets > LARGE_TOKEN_WALLETS;
    if (!isLarge && token.peakChanges === null) return;
    this.holdings.flush(); // peaks are computed from the rows
    if (!isLarge) this.peaks.remove(token.id);
    else if (token.peakChanges === null) this.peaks.create(token.id);
    else this.peaks.update(token.id, token.peakChanges);
  }
}
