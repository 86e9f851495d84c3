/**
 * Finds the watchers that a transfer concerns by the ids of its wallets and its contract: the cost grows with the
 * transfers, not with the watchers. An address gets its id with its first transfer, so new wallets are compared with
 * the watched addresses that have no id yet.
 */
import type { EventRow } from '../query/events.ts';
import type { NewWallet, ScannedTransfer } from '../query/scan.ts';
import type { Watcher } from './watcher.ts';

/** Whom a transfer concerns, by address. */
type Parties = Pick<EventRow, 'from' | 'to' | 'token'>;

export class WatcherIndex {
  private readonly wallets = new AddressWatchers();
  private readonly contracts = new AddressWatchers();
  /** Those that want every transfer. Replaced, never changed: transfers that concern no other watcher share the list. */
  private unselective: readonly Watcher[] = [];
  private readonly everyone = new Set<Watcher>();

  get all(): ReadonlySet<Watcher> {
    return this.everyone;
  }

  /** Whether some watcher wants every transfer. */
  get wantsAll(): boolean {
    return this.unselective.length > 0;
  }

  /** Whether there are addresses without an id. */
  get hasUnresolved(): boolean {
    return this.wallets.unresolved.size + this.contracts.unresolved.size > 0;
  }

  /** `idOf` gives the wallet id of an address if it has one. */
  add(watcher: Watcher, idOf: (address: string) => number | undefined): void {
    this.everyone.add(watcher);
    if (watcher.wallets.size > 0) this.wallets.add(watcher, watcher.wallets, idOf);
    else if (watcher.tokens.size > 0) this.contracts.add(watcher, watcher.tokens, idOf);
    else this.unselective = [...this.unselective, watcher];
  }

  delete(watcher: Watcher): void {
    if (!this.everyone.delete(watcher)) return;
    if (watcher.wallets.size > 0) this.wallets.delete(watcher, watcher.wallets);
    else if (watcher.tokens.size > 0) this.contracts.delete(watcher, watcher.tokens);
    else this.unselective = this.unselective.filter((other) => other !== watcher);
  }

  /** Assigns ids to watched addresses that are among these new wallets. */
  resolve(wallets: readonly NewWallet[]): void {
    for (const { id, address } of wallets) {
      this.wallets.resolve(address, id);
      this.contracts.resolve(address, id);
    }
  }

  /** Ids above `last` are no longer valid. */
  invalidateIdsAbove(last: number): void {
    this.wallets.invalidateIdsAbove(last);
    this.contracts.invalidateIdsAbove(last);
  }

  /** The watchers that may want a transfer, each once. Do not modify the list. */
  candidatesFor({ sender, receiver, contract }: ScannedTransfer): readonly Watcher[] {
    const senders = this.wallets.byWalletId(sender);
    const receivers = sender === receiver ? undefined : this.wallets.byWalletId(receiver);
    const contractWatchers = contract === null ? undefined : this.contracts.byWalletId(contract);
    return this.union(senders, receivers, contractWatchers);
  }

  /** The watchers that may want a transfer that is not in the index, not yet or no longer. Do not modify the list. */
  candidatesByAddress({ from, to, token }: Parties): readonly Watcher[] {
    const receivers = from === to ? undefined : this.wallets.ofAddress(to);
    return this.union(this.wallets.ofAddress(from), receivers, this.contracts.ofAddress(token));
  }

  private union(senders: Watchers, receivers: Watchers, contractWatchers: Watchers): readonly Watcher[] {
    if (senders === undefined && receivers === undefined && contractWatchers === undefined)
      return this.unselective;
    const found = [...this.unselective, ...(senders ?? []), ...(contractWatchers ?? [])];
    for (const watcher of receivers ?? []) if (!senders?.has(watcher)) found.push(watcher);
    return found;
  }
}

type Watchers = ReadonlySet<Watcher> | undefined;

interface Entry {
  address: string;
  id: number | undefined;
  watchers: Set<Watcher>;
}

class AddressWatchers {
  /** Entries whose address has no id. */
  readonly unresolved = new Map<string, Entry>();
  private readonly byAddress = new Map<string, Entry>();
  private readonly byId = new Map<number, Entry>();

  byWalletId(id: number): Watchers {
    return this.byId.get(id)?.watchers;
  }

  ofAddress(address: string): Watchers {
    return this.byAddress.get(address)?.watchers;
  }

  add(watcher: Watcher, addresses: Iterable<string>, idOf: (address: string) => number | undefined): void {
    for (const address of addresses) {
      let entry = this.byAddress.get(address);
      if (entry === undefined) {
        entry = { address, id: undefined, watchers: new Set() };
        this.byAddress.set(address, entry);
        this.unresolved.set(address, entry);
        const id = idOf(address);
        if (id !== undefined) this.resolve(address, id);
      }
      entry.watchers.add(watcher);
    }
  }

  delete(watcher: Watcher, addresses: Iterable<string>): void {
    for (const address of addresses) {
      const entry = this.byAddress.get(address);
      entry?.watchers.delete(watcher);
      if (entry === undefined || entry.watchers.size > 0) continue;
      this.byAddress.delete(address);
      this.unresolved.delete(address);
      if (entry.id !== undefined) this.byId.delete(entry.id);
    }
  }

  resolve(address: string, id: number): void {
    const entry = this.unresolved.get(address);
    if (entry === undefined) return;
    this.unresolved.delete(address);
    entry.id = id;
    this.byId.set(id, entry);
  }

  invalidateIdsAbove(last: number): void {
    for (const [id, entry] of this.byId) {
      if (id <= last) continue;
      this.byId.delete(id);
      entry.id = undefined;
      this.unresolved.set(entry.address, entry);
    }
  }
}
