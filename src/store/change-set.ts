/** The rows one commit changes, loaded on first use and written back in key order at its end. */
import { type AddressRow, AddressTable } from './address-table.ts';
import { type Funding, FundingTable } from './funding-table.ts';
import { NativePeaks, NativePeakTable } from './native-peaks.ts';
import type { Db } from './open-database.ts';
import { type TokenState, TokenTable } from './token-state.ts';
import { UntracedTable } from './untraced.ts';
import { type FinishedRun, type WalletState, WalletTable } from './wallet-state.ts';

/** The statements shared by all commits; prepared once. */
export class Tables {
  readonly wallets: WalletTable;
  readonly addresses: AddressTable;
  readonly fundings: FundingTable;
  readonly tokens: TokenTable;
  readonly nativePeaks: NativePeakTable;
  readonly untraced: UntracedTable;
  constructor(db: Db) {
    this.wallets = new WalletTable(db);
    this.addresses = new AddressTable(db);
    this.fundings = new FundingTable(db);
    this.tokens = new TokenTable(db);
    this.nativePeaks = new NativePeakTable(db);
    this.untraced = new UntracedTable(db);
  }
}

/** Only one exists at a time: each reuses the memory of the previous one. */
export class ChangeSet {
  readonly wallets = new Map<number, WalletState>();
  readonly tokens = new Map<number, TokenState>();
  readonly finishedRuns: FinishedRun[] = [];
  /** The rows of `addresses` for the new wallets, in key order. */
  readonly newAddressRows: AddressRow[] = [];
  readonly nativePeaks: NativePeaks;
  readonly tables: Tables;

  constructor(tables: Tables) {
    this.tables = tables;
    tables.wallets.begin();
    tables.tokens.begin();
    this.nativePeaks = new NativePeaks(tables.nativePeaks);
  }

  wallet(id: number): WalletState {
    let wallet = this.wallets.get(id);
    if (!wallet) {
      wallet = this.tables.wallets.load(id);
      this.wallets.set(id, wallet);
    }
    return wallet;
  }

  token(id: number): TokenState {
    let token = this.tokens.get(id);
    if (!token) {
      token = this.tables.tokens.load(id);
      this.tokens.set(id, token);
    }
    return token;
  }

  /**
   * Makes `transfer`, sent by `funder`, the first funding of the wallet (null: it no longer has one) and moves the
   * wallet from the old funder's count to the new one's.
   */
  setFunding(wallet: WalletState, funder: number | null, transfer: number | null): void {
    if (wallet.funder !== funder) {
      if (wallet.funder !== null) this.wallet(wallet.funder).funded--;
      if (funder !== null) this.wallet(funder).funded++;
    }
    wallet.funder = funder;
    wallet.funding = transfer;
  }

  /**
   * Writes everything; each table in ascending key order, so that neighbouring rows share a page while it is hot.
   * Tokens come first: saving their holdings updates the token counts in the wallets' rows.
   */
  save(): void {
    for (const id of [...this.tokens.keys()].sort((a, b) => a - b))
      this.tables.tokens.save(this.tokens.get(id)!);
    this.tables.tokens.flush();
    for (const id of [...this.wallets.keys()].sort((a, b) => a - b))
      this.tables.wallets.save(this.wallets.get(id)!);
    this.tables.wallets.flush();
    this.tables.addresses.add(this.newAddressRows);
    this.saveFundings();
    this.finishedRuns.sort((a, b) => a.wallet - b.wallet || a.first - b.first);
    for (const run of this.finishedRuns) this.tables.wallets.saveRun(run);
    this.nativePeaks.save();
  }

  private saveFundings(): void {
    const gone: Funding[] = [];
    const added: Funding[] = [];
    for (const { storedFunder, storedFunding, funder, funding } of this.wallets.values()) {
      if (funding === storedFunding) continue;
      if (storedFunder !== null && storedFunding !== null)
        gone.push({ funder: storedFunder, funding: storedFunding });
      if (funder !== null && funding !== null) added.push({ funder, funding });
    }
    this.tables.fundings.applyChanges(gone, added);
  }
}
