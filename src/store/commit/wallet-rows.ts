/** Writes the rows of `wallets`, `activity` and the tables that follow from them. */
import { TransferKind } from '../../model/transfer-kind.ts';
import { ZERO_WALLET } from '../schema.ts';
import { HistoryFlag } from '../wallet-history.ts';
import type { Commit } from './commit.ts';
import { NATIVE, type Side } from './commit-transfers.ts';
import type { Funding, Tables } from './tables.ts';
import type { WalletState } from './wallet-state.ts';

/**
 * Rows in memory at once: enough to write several with each statement, and few enough that their pages stay in the page
 * cache until then. With 1,024 a commit in a large index read 18 % more.
 */
const WALLETS_AT_ONCE = 128;

export class WalletRows {
  private readonly commit: Commit;
  private readonly tables: Tables;

  constructor(commit: Commit, tables: Tables) {
    this.commit = commit;
    this.tables = tables;
  }

  /** Reads, changes and writes one row after the other, by ascending id. Call it once. */
  save(): void {
    const { tables } = this;
    const { wallets, walletOrder, onStep } = this.commit;
    const gone: Funding[] = [];
    const added: Funding[] = [];
    for (let at = 0; at < walletOrder.length; at += WALLETS_AT_ONCE) {
      onStep();
      tables.wallets.begin();
      const extended: { wallet: WalletState; pages: number }[] = [];
      for (const { wallet, slot } of this.load(walletOrder.subarray(at, at + WALLETS_AT_ONCE))) {
        const { id } = wallet;
        const pages = this.addEntries(wallet, slot);
        if (pages > 0) extended.push({ wallet, pages });
        wallet.tokens += wallets.tokens[slot]!;
        wallet.funded += wallets.funded[slot]! - this.takeUnfunded(id);
        const funding = wallets.fundings[slot]!;
        if (funding > 0) {
          const { storedFunder, storedFunding } = wallet;
          if (storedFunder !== null && storedFunding !== null)
            gone.push({ funder: storedFunder, funding: storedFunding });
          wallet.funder = wallets.funders[slot]!;
          added.push({ funder: wallets.funders[slot]!, funding });
        }
        tables.wallets.save(wallet);
      }
      tables.wallets.flush();
      for (const { wallet, pages } of extended) tables.counterpartySums.extend(wallet, pages);
    }
    this.saveUnfunded();
    tables.fundings.applyChanges(gone, added);
  }

  /** The wallets in these slots that the commit changes: first the stored ones, then the new ones, by ascending id. */
  private load(slots: Uint32Array): { wallet: WalletState; slot: number }[] {
    const { wallets, before } = this.commit;
    const { states } = this.tables.wallets;
    const stored: number[] = [];
    const added: number[] = [];
    for (const slot of slots) {
      const id = wallets.ids[slot]!;
      if (id > before.lastWallet) added.push(slot);
      else if (this.isChanged(slot, id)) stored.push(slot);
    }
    const keyOf = (slot: number) => ({ id: wallets.ids[slot]!, address: wallets.addressAt(slot) });
    const loaded = this.tables.wallets.loadAll(stored.map(keyOf));
    return [
      ...stored.map((slot, i) => ({ slot, wallet: loaded[i]! })),
      ...added.map((slot) => ({ slot, wallet: states.add(wallets.ids[slot]!, wallets.addressAt(slot)) })),
    ];
  }

  /** Whether the commit changes a stored wallet. A token contract may appear without transfers of its own. */
  private isChanged(slot: number, id: number): boolean {
    const { wallets, byWallet, unfunded } = this.commit;
    return (
      byWallet.end(slot) > byWallet.start(slot) ||
      wallets.tokens[slot] !== 0 ||
      (unfunded.size > 0 && unfunded.has(id))
    );
  }

  private takeUnfunded(id: number): number {
    const { unfunded } = this.commit;
    if (unfunded.size === 0) return 0;
    const count = unfunded.get(id) ?? 0;
    if (count > 0) unfunded.delete(id);
    return count;
  }

  /** Lowers the counts of former funders that the commit does not touch otherwise. */
  private saveUnfunded(): void {
    const { tables } = this;
    const ids = [...this.commit.unfunded.keys()].sort((a, b) => a - b);
    for (let at = 0; at < ids.length; at += WALLETS_AT_ONCE) {
      tables.wallets.begin();
      for (const id of ids.slice(at, at + WALLETS_AT_ONCE)) {
        const wallet = tables.wallets.load(id);
        wallet.funded -= this.takeUnfunded(id);
        tables.wallets.save(wallet);
      }
      tables.wallets.flush();
    }
  }

  /** Adds the transfers of a wallet to its row, and its full history pages to `activity`. Returns their number. */
  private addEntries(wallet: WalletState, slot: number): number {
    const { byWallet } = this.commit;
    const { sides } = byWallet;
    const end = byWallet.end(slot);
    let pages = 0;
    for (let i = byWallet.start(slot); i < end; i++) if (this.addEntry(wallet, sides[i]!)) pages++;
    return pages;
  }

  /** Adds one transfer to the row of a wallet. Returns whether it finished a history page. */
  private addEntry(wallet: WalletState, side: Side): boolean {
    const { transfers, wallets, firstTransfer } = this.commit;
    const at = side >>> 1;
    const id = firstTransfer + at;
    const kind = transfers.kind[at]!;
    const isReceiver = (side & 1) === 1;
    const other = isReceiver ? transfers.sender[at]! : transfers.receiver[at]!;
    const isToSelf = transfers.sender[at] === transfers.receiver[at];
    const isNative = transfers.token[at] === NATIVE;
    const wei = isNative ? transfers.amountAt(at) : null;
    const direction = isToSelf
      ? HistoryFlag.out | HistoryFlag.in
      : isReceiver
        ? HistoryFlag.in
        : HistoryFlag.out;
    const flags = kind | direction | (transfers.isZero(at) ? HistoryFlag.zero : 0);
    const finished = wallet.addEntry(id, flags, wallets.ids[other]!, wei);
    if (finished !== null) this.tables.wallets.pages.insert(wallet.id, finished.first, finished.entries);
    const transaction = firstTransfer + transfers.transactionStart[at]!;
    if (wallet.countedTransaction !== transaction) {
      wallet.countedTransaction = transaction;
      wallet.transactions++;
    }
    if (wei === null) wallet.tokenTransfers++;
    else {
      if (!isReceiver) wallet.addSent(wei);
      if (isReceiver || isToSelf) addReceived(wallet, id, kind, wei, isToSelf ? null : wallets.ids[other]!);
    }
    return finished !== null;
  }
}

/** Adds a received native transfer. `sender` is null if the wallet sent it itself. */
function addReceived(
  wallet: WalletState,
  id: number,
  kind: number,
  wei: Uint8Array,
  sender: number | null,
): void {
  wallet.addReceived(wei);
  if (kind === TransferKind.nativeInternal) wallet.internalReceived++;
  if (sender === null || sender === ZERO_WALLET) return;
  if (kind === TransferKind.nativeDirect) {
    wallet.latestDirect = id;
    wallet.firstDirect ??= id;
  } else {
    wallet.latestInternal = id;
    wallet.firstInternal ??= id;
  }
}
