/**
 * What follows from a plain list of transfers, in the simplest correct way: filter, group, sum. Shares only the names
 * of the kinds with the program.
 */
import type { IndexedTransfer } from '../index/index-rows.ts';

export interface Counted extends IndexedTransfer {
  /** ISO text of the block's time. */
  time: string;
}

export const ZERO = `0x${'0'.repeat(40)}`;

export class TransferModel {
  readonly wallets: string[];
  readonly tokens: string[];
  protected readonly head: number;
  protected readonly transfers: readonly Counted[];
  private readonly byWallet: Map<string, Counted[]>;
  protected readonly byToken: Map<string, Counted[]>;
  protected readonly firstOf = new Map<string, Counted>();
  protected readonly fundedBy: Map<string, Counted[]>;

  constructor(transfers: readonly Counted[], head: number) {
    this.transfers = transfers;
    this.head = head;
    this.byWallet = group(transfers, ({ from, to }) => [...new Set([from, to])]);
    this.byToken = group(transfers, ({ token }) => (token === null ? [] : [token]));
    this.wallets = [...this.byWallet.keys()];
    this.tokens = [...this.byToken.keys()];
    for (const wallet of this.wallets) {
      const incoming = this.of(wallet).filter((t) => isFundingOf(t, wallet));
      const first = incoming.find(({ kind }) => kind === 'native_direct') ?? incoming[0];
      if (first) this.firstOf.set(wallet, first);
    }
    this.fundedBy = group([...this.firstOf.values()], ({ from }) => [from]);
  }

  /** Transfers of a wallet, oldest first. */
  of(wallet: string): Counted[] {
    return this.byWallet.get(wallet) ?? [];
  }

  /** Transfers of a token, oldest first. */
  ofToken(token: string): Counted[] {
    return this.byToken.get(token) ?? [];
  }

  /** Minted and not burned; null unless above zero. */
  supply(token: string): bigint | null {
    const supply =
      this.sumOf(token, ({ from }) => from === ZERO) - this.sumOf(token, ({ to }) => to === ZERO);
    return supply > 0n ? supply : null;
  }

  /** What some of a token's transfers move; one from an address to itself moves nothing. */
  protected sumOf(token: string, isCounted: (transfer: Counted) => boolean): bigint {
    return this.ownForm(token)
      .filter((transfer) => transfer.from !== transfer.to && isCounted(transfer))
      .reduce((sum, { amount }) => sum + amount, 0n);
  }

  /** The transfers of a token that are of the kind of its first one: what they move is its balances. */
  protected ownForm(token: string): Counted[] {
    const list = this.byToken.get(token) ?? [];
    return list.filter(({ kind }) => kind === list[0]?.kind);
  }

  /** The balance of every address except zero that results from a token's transfers. */
  balances(token: string): Map<string, bigint> {
    const balances = new Map<string, bigint>();
    for (const { from, to, amount } of this.ownForm(token)) {
      balances.set(from, (balances.get(from) ?? 0n) - amount);
      balances.set(to, (balances.get(to) ?? 0n) + amount);
    }
    balances.delete(ZERO);
    return balances;
  }

  /** What shares are of: the supply, null where the 100 largest holders have more. */
  shareSupply(token: string): bigint | null {
    const supply = this.supply(token);
    const held = [...this.balances(token).values()].filter((balance) => balance > 0n);
    const largest = held.sort((a, b) => (a > b ? -1 : a < b ? 1 : 0)).slice(0, 100);
    return supply === null || largest.reduce((sum, balance) => sum + balance, 0n) > supply ? null : supply;
  }

  /** Within a window of blocks. */
  transfersOf(address: string, blocks: number): number {
    return this.within(blocks, this.of(address)).length;
  }

  transfersOfToken(token: string, blocks: number): number {
    return this.within(blocks, this.byToken.get(token) ?? []).length;
  }

  get transactionHashes(): string[] {
    return [...new Set(this.transfers.map(({ hash }) => hash))];
  }

  protected within(blocks: number, list: readonly Counted[]): Counted[] {
    return list.filter(({ block }) => block > this.head - blocks);
  }

  protected transactions(address: string): number {
    return new Set(this.of(address).map(({ hash }) => hash)).size;
  }

  protected tokensOf(address: string): number {
    return new Set(this.of(address).flatMap(({ token }) => token ?? [])).size;
  }

  protected sums(address: string) {
    const own = this.of(address);
    return {
      first: own[0],
      last: own.at(-1),
      received: nativeSum(own.filter(({ to }) => to === address)),
      sent: nativeSum(own.filter(({ from }) => from === address)),
    };
  }
}

/** By block, the latest of the times up to it: what lookups by time go by. */
export function latestTimes(times: ReadonlyMap<number, number>): Map<number, number> {
  let latest = 0;
  return new Map(
    [...times]
      .sort(([a], [b]) => a - b)
      .map(([number, time]) => {
        latest = Math.max(latest, time);
        return [number, latest];
      }),
  );
}

export function addressesOf({ from, to, token }: Counted): string[] {
  return token === null ? [from, to] : [from, to, token];
}

export function isFundingOf({ token, from, to }: Counted, wallet: string): boolean {
  return token === null && to === wallet && from !== wallet && from !== ZERO;
}

export function group<T>(list: readonly T[], keysOf: (item: T) => Iterable<string>): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of list) {
    for (const key of keysOf(item)) {
      const known = groups.get(key);
      if (known) known.push(item);
      else groups.set(key, [item]);
    }
  }
  return groups;
}

export function last<T>(list: readonly T[]): T {
  const item = list.at(-1);
  if (item === undefined) throw new Error('an empty list has no last item');
  return item;
}

export function nativeSum(list: readonly Counted[]): bigint {
  return list.reduce((sum, { token, amount }) => (token === null ? sum + amount : sum), 0n);
}
