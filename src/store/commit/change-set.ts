/** The rows that a rollback step changes, loaded on first use and written back in key order at its end. */

import type { Funding, Tables } from './tables.ts';
import type { TokenState } from './token-state.ts';
import type { WalletState } from './wallet-state.ts';
import type { WalletStates } from './wallet-states.ts';

/** The changes of one step. Only one exists at a time, because each reuses the memory of the previous one. */
export class ChangeSet {
  readonly wallets: WalletStates;
  readonly tokens = new Map<number, TokenState>();
  private readonly tables: Tables;

  constructor(tables: Tables) {
    this.tables = tables;
    this.wallets = tables.wallets.states;
    tables.wallets.begin();
    tables.tokens.begin();
  }

  wallet(id: number): WalletState {
    return this.wallets.find(id) ?? this.tables.wallets.load(id);
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
   * Sets the first funding of the wallet to `transfer`, sent by `funder`; null removes it. Moves the wallet from the
   * old funder's count to the new funder's.
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
   * Writes each table in ascending key order, so that neighbouring rows hit the same hot page. Writes tokens first,
   * because saving their holdings updates token counts in the wallets' rows.
   */
  save(): void {
    this.tables.tokens.save(this.tokens, this.wallets);
    for (const slot of this.wallets.inOrder()) this.tables.wallets.save(this.wallets.at(slot));
    this.tables.wallets.flush();
    this.saveFundings();
  }

  private saveFundings(): void {
    const gone: Funding[] = [];
    const added: Funding[] = [];
    for (let slot = 0; slot < this.wallets.count; slot++) {
      const { storedFunder, storedFunding, funder, funding } = this.wallets.at(slot);
      if (funding === storedFunding) continue;
      if (storedFunder !== null && storedFunding !== null)
        gone.push({ funder: storedFunder, funding: storedFunding });
      if (funder !== null && funding !== null) added.push({ funder, funding });
    }
    this.tables.fundings.applyChanges(gone, added);
  }
}
