/**
 * Finds a transfer's subscribers by the ids of its wallets and its contract, so that the cost grows with the transfers
 * and not with the subscriptions. An address gets its id with its first transfer, so new wallets are compared with the
 * subscribed addresses that have no id yet.
 */
import { MAX_ADDRESSES } from '../../model/stream-filters.ts';
import type { TransferAddresses } from '../../query/events.ts';
import type { NewWallet, TransferParties } from '../../query/stream-reads.ts';
import { namesOf } from './trade-facts.ts';
import type { Examiner, TransferEvent } from './transfer-event.ts';
import type { TransferSubscription } from './transfer-subscription.ts';

/**
 * Whether a subscriber's wallets are looked up one by one. Looking up a stored list of a hundred thousand would block
 * the event loop, so the subscriber of a long list is offered every transfer.
 */
export function isSelectedByWallet({ wallets }: TransferSubscription): boolean {
  return wallets.size > 0 && wallets.size <= MAX_ADDRESSES;
}

function isSelectedByToken({ wallets, tokens }: TransferSubscription): boolean {
  return wallets.size === 0 && tokens.size > 0;
}

/** Examines the trades on both sides of an event. */
const BOTH_TRADES = { examines: true, examinesTrades: true, sidesOf: () => ['out', 'in'] as const };

export class SubscriptionIndex {
  private readonly wallets = new AddressSubscribers();
  private readonly contracts = new AddressSubscribers();
  /** Subscribers to trades of tokens, by contract. */
  private readonly traded = new AddressSubscribers();
  /**
   * Subscribers to every transfer. Replaced, never modified, because transfers without other candidates share the list.
   */
  private unselective: readonly TransferSubscription[] = [];
  private readonly everyone = new Set<TransferSubscription>();

  get all(): ReadonlySet<TransferSubscription> {
    return this.everyone;
  }

  get wantsAll(): boolean {
    return this.unselective.length > 0;
  }

  /** Whether a transfer of any wallet and token may end a trade that somebody wants: see `candidatesByTrade`. */
  get wantsTrades(): boolean {
    return this.traded.size > 0;
  }

  /** The subscribers to trades of tokens. */
  get traders(): Iterable<TransferSubscription> {
    return this.traded.all();
  }

  /** Whether some subscribed address has no id yet. */
  get hasUnresolved(): boolean {
    return this.wallets.unresolved.size + this.contracts.unresolved.size > 0;
  }

  /** `idOf` returns the wallet id of an address, if any. */
  add(subscriber: TransferSubscription, idOf: (address: string) => number | undefined): void {
    this.everyone.add(subscriber);
    if (isSelectedByWallet(subscriber)) this.wallets.add(subscriber, subscriber.wallets, idOf);
    else if (isSelectedByToken(subscriber)) {
      this.contracts.add(subscriber, subscriber.tokens, idOf);
      if (subscriber.examinesTrades) this.traded.add(subscriber, subscriber.tokens, () => undefined);
    } else this.unselective = [...this.unselective, subscriber];
  }

  delete(subscriber: TransferSubscription): void {
    if (!this.everyone.delete(subscriber)) return;
    if (isSelectedByWallet(subscriber)) this.wallets.delete(subscriber, subscriber.wallets);
    else if (isSelectedByToken(subscriber)) {
      this.contracts.delete(subscriber, subscriber.tokens);
      this.traded.delete(subscriber, subscriber.tokens);
    } else this.unselective = this.unselective.filter((other) => other !== subscriber);
  }

  /** Assigns ids to the subscribed addresses among these new wallets. */
  resolve(wallets: readonly NewWallet[]): void {
    for (const { id, address } of wallets) {
      this.wallets.resolve(address, id);
      this.contracts.resolve(address, id);
    }
  }

  invalidateIdsAbove(last: number): void {
    this.wallets.invalidateIdsAbove(last);
    this.contracts.invalidateIdsAbove(last);
  }

  /** The subscribers that may want a transfer, without duplicates. Do not modify the list. */
  candidatesFor({ sender, receiver, contract }: TransferParties): readonly TransferSubscription[] {
    const senders = this.wallets.byWalletId(sender);
    const receivers = sender === receiver ? undefined : this.wallets.byWalletId(receiver);
    const contractSubscribers = contract === null ? undefined : this.contracts.byWalletId(contract);
    return this.union(senders, receivers, contractSubscribers);
  }

  /** Like `candidatesFor`, for a transfer that is not in the index: not yet committed, or removed. */
  candidatesByAddress({ from, to, token }: TransferAddresses): readonly TransferSubscription[] {
    const receivers = from === to ? undefined : this.wallets.ofAddress(to);
    return this.union(this.wallets.ofAddress(from), receivers, this.contracts.ofAddress(token));
  }

  /** Who asks about the sides of a transfer with these candidates. */
  examiners(candidates: readonly TransferSubscription[]): readonly Examiner[] {
    return this.wantsTrades ? [...candidates, BOTH_TRADES] : candidates;
  }

  /**
   * Adds the subscribers to trades of tokens to the candidates of a transfer: those of whose tokens a trade that ends
   * with it has one on a side. Let `examiners` prepare the event first, because a transaction may be large.
   */
  candidatesByTrade(
    candidates: readonly TransferSubscription[],
    event: Pick<TransferEvent, 'trade'>,
  ): readonly TransferSubscription[] {
    if (!this.wantsTrades) return candidates;
    const found = new Set(candidates);
    for (const direction of BOTH_TRADES.sidesOf()) {
      const trade = event.trade(direction);
      for (const asset of trade === null ? [] : trade.assets.flatMap((asset) => namesOf(asset, trade)))
        for (const subscriber of this.traded.ofAddress(asset) ?? []) found.add(subscriber);
    }
    return [...found];
  }

  private union(
    senders: Subscribers,
    receivers: Subscribers,
    contractSubscribers: Subscribers,
  ): readonly TransferSubscription[] {
    if (senders === undefined && receivers === undefined && contractSubscribers === undefined)
      return this.unselective;
    const found = [...this.unselective, ...(senders ?? []), ...(contractSubscribers ?? [])];
    for (const subscriber of receivers ?? []) if (!senders?.has(subscriber)) found.push(subscriber);
    return found;
  }
}

type Subscribers = ReadonlySet<TransferSubscription> | undefined;

interface Entry {
  address: string;
  id: number | undefined;
  subscribers: Set<TransferSubscription>;
}

class AddressSubscribers {
  /** Entries whose address has no id. */
  readonly unresolved = new Map<string, Entry>();
  private readonly byAddress = new Map<string, Entry>();
  private readonly byId = new Map<number, Entry>();

  get size(): number {
    return this.byAddress.size;
  }

  *all(): Generator<TransferSubscription, void, void> {
    for (const { subscribers } of this.byAddress.values()) yield* subscribers;
  }

  byWalletId(id: number): Subscribers {
    return this.byId.get(id)?.subscribers;
  }

  ofAddress(address: string): Subscribers {
    return this.byAddress.get(address)?.subscribers;
  }

  add(
    subscriber: TransferSubscription,
    addresses: Iterable<string>,
    idOf: (address: string) => number | undefined,
  ): void {
    for (const address of addresses) {
      let entry = this.byAddress.get(address);
      if (entry === undefined) {
        entry = { address, id: undefined, subscribers: new Set() };
        this.byAddress.set(address, entry);
        this.unresolved.set(address, entry);
        const id = idOf(address);
        if (id !== undefined) this.resolve(address, id);
      }
      entry.subscribers.add(subscriber);
    }
  }

  delete(subscriber: TransferSubscription, addresses: Iterable<string>): void {
    for (const address of addresses) {
      const entry = this.byAddress.get(address);
      entry?.subscribers.delete(subscriber);
      if (entry === undefined || entry.subscribers.size > 0) continue;
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
