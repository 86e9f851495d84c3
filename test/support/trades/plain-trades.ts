/**
 * The trades and profits of all wallets of a chain, written from the definitions alone: one pass over its transfers
 * with sums by address, and nothing of the program but the names of the kinds.
 */
import type { IndexedTransfer } from '../index/index-rows.ts';

export interface PlainLists {
  equivalents: readonly string[];
  quotes: readonly string[];
  sinks: readonly string[];
}

export interface PlainLeg {
  /** `native`, a contract, or a contract and an id of ERC-1155. */
  asset: string;
  contract: string | null;
  standard: 'native' | 'erc20' | 'erc721' | 'erc1155';
  amount: bigint;
}

export interface PlainTrade {
  block: number;
  hash: string;
  kind: 'buy' | 'sell' | 'swap' | 'mixed';
  given: PlainLeg[];
  received: PlainLeg[];
  fees: PlainLeg[];
  /** The asset bought, sold, or alone among quotes. */
  asset: PlainLeg | null;
  quote: string | null;
}

export interface PlainProfit {
  buys: number;
  sells: number;
  bought: bigint;
  spent: bigint;
  sold: bigint;
  received: bigint;
  realized: bigint;
  soldWithoutCost: bigint;
  receivedWithoutCost: bigint;
  position: bigint;
  cost: bigint;
  firstBlock: number;
  lastBlock: number;
}

const ZERO = `0x${'0'.repeat(40)}`;

/** A standard name of what a transfer moves. */
function legOf({ kind, token, tokenId }: IndexedTransfer, lists: PlainLists): Omit<PlainLeg, 'amount'> {
  if (token === null || (kind === 'erc20' && lists.equivalents.includes(token)))
    return { asset: 'native', contract: null, standard: 'native' };
  if (kind === 'erc1155') return { asset: `${token}#${tokenId}`, contract: token, standard: 'erc1155' };
  if (kind === 'erc721') return { asset: `${token}!`, contract: token, standard: 'erc721' };
  return { asset: token, contract: token, standard: 'erc20' };
}

export class PlainTrades {
  /** The trades of each wallet, oldest first. */
  readonly byWallet = new Map<string, PlainTrade[]>();
  private readonly lists: PlainLists;
  private readonly firstKind = new Map<string, string>();

  constructor(transfers: readonly IndexedTransfer[], lists: PlainLists) {
    this.lists = lists;
    for (const { token, kind } of transfers)
      if (token !== null && !this.firstKind.has(token)) this.firstKind.set(token, kind);
    let start = 0;
    for (let i = 1; i <= transfers.length; i++) {
      const [before, next] = [transfers[i - 1], transfers[i]];
      if (next?.block === before?.block && next?.hash === before?.hash) continue;
      this.transaction(transfers.slice(start, i));
      start = i;
    }
  }

  private transaction(transfers: readonly IndexedTransfer[]): void {
    const changes = new Map<string, Map<string, PlainLeg>>();
    const fees = new Map<string, Map<string, PlainLeg>>();
    const change = (wallet: string, other: string, transfer: IndexedTransfer, amount: bigint): void => {
      if (wallet === ZERO) return;
      const into = this.lists.sinks.includes(other) ? fees : changes;
      const ofWallet = into.get(wallet) ?? new Map<string, PlainLeg>();
      into.set(wallet, ofWallet);
      const leg = legOf(transfer, this.lists);
      const known = ofWallet.get(leg.asset);
      if (known === undefined) ofWallet.set(leg.asset, { ...leg, amount });
      else known.amount += amount;
    };
    for (const transfer of transfers) {
      const { from, to, amount, token } = transfer;
      if (from === to || amount === 0n || (token === null && from === ZERO)) continue;
      change(from, to, transfer, -amount);
      change(to, from, transfer, amount);
    }
    for (const [wallet, legs] of changes) {
      const trade = this.tradeOf([...legs.values()], [...(fees.get(wallet)?.values() ?? [])]);
      const [first] = transfers;
      if (trade === null || first === undefined) continue;
      const all = this.byWallet.get(wallet) ?? [];
      this.byWallet.set(wallet, all);
      all.push({ ...trade, block: first.block, hash: first.hash });
    }
  }

  private tradeOf(legs: PlainLeg[], fees: PlainLeg[]): Omit<PlainTrade, 'block' | 'hash'> | null {
    const isMirror = ({ standard, contract }: PlainLeg, of: PlainLeg[]) =>
      standard === 'erc721' &&
      (of.some((leg) => leg.standard === 'erc20' && leg.contract === contract) ||
        this.firstKind.get(contract ?? '') === 'erc20');
    const counted = legs.filter((leg) => leg.amount !== 0n && !isMirror(leg, legs));
    const given = counted.filter(({ amount }) => amount < 0n).map((leg) => ({ ...leg, amount: -leg.amount }));
    const received = counted.filter(({ amount }) => amount > 0n);
    const charged = fees.filter((leg) => leg.amount !== 0n && !isMirror(leg, fees));
    const paid = charged.map((leg) => ({ ...leg, amount: -leg.amount }));
    if (given.length === 0 || received.length === 0) return null;
    const sides = { given, received, fees: paid };
    const isStable = ({ standard, contract }: PlainLeg) =>
      standard === 'erc20' && this.lists.quotes.includes(contract ?? '');
    const isNative = ({ asset }: PlainLeg) => asset === 'native';
    if (given.length > 1 || received.length > 1) {
      const goods = [...given, ...received].filter((leg) => !isStable(leg) && !isNative(leg));
      const coins = [...given, ...received].filter(isNative);
      const asset = goods.length === 0 ? coins[0] : goods.length === 1 ? goods[0] : undefined;
      return { kind: 'mixed', ...sides, asset: asset ?? null, quote: null };
    }
    const [give, get] = [given[0]!, received[0]!];
    const buy = { kind: 'buy' as const, ...sides, asset: get, quote: give.asset };
    const sell = { kind: 'sell' as const, ...sides, asset: give, quote: get.asset };
    if (isStable(give) && isStable(get)) return { kind: 'swap', ...sides, asset: null, quote: null };
    if (isStable(give)) return buy;
    if (isStable(get)) return sell;
    if (isNative(give)) return buy;
    if (isNative(get)) return sell;
    return { kind: 'swap', ...sides, asset: null, quote: null };
  }

  /** The profits of a wallet by token (`native` for the coin) in a quote. */
  profits(wallet: string, quote: string): Map<string, PlainProfit> {
    const found = new Map<string, PlainProfit>();
    for (const { kind, given, received, asset, quote: own, block } of this.byWallet.get(wallet) ?? []) {
      if (asset === null || own !== quote || asset.standard === 'erc1155') continue;
      const name = asset.contract ?? 'native';
      const p = found.get(name) ?? emptyProfit(block);
      found.set(name, p);
      p.lastBlock = block;
      const [give, get] = [given[0]!.amount, received[0]!.amount];
      if (kind === 'buy') {
        p.buys++;
        p.bought += get;
        p.spent += give;
        p.position += get;
        p.cost += give;
        continue;
      }
      p.sells++;
      p.sold += give;
      p.received += get;
      let matched = p.position;
      if (give < matched) matched = give;
      const cost = p.position === 0n ? 0n : (p.cost * matched) / p.position;
      const brought = (get * matched) / give;
      p.realized += brought - cost;
      p.soldWithoutCost += give - matched;
      p.receivedWithoutCost += get - brought;
      p.position -= matched;
      p.cost -= cost;
    }
    return found;
  }

  /** Whether a contract logs units, so that its NFTs only mirror them. */
  isUnits(contract: string | null): boolean {
    return this.firstKind.get(contract ?? '') === 'erc20';
  }

  /** What a wallet sold of a token for anything. */
  soldInAll(wallet: string, token: string): bigint {
    let sold = 0n;
    for (const { kind, given, asset, quote } of this.byWallet.get(wallet) ?? []) {
      if (asset === null || quote === null || asset.standard === 'erc1155') continue;
      if (kind === 'sell' && asset.contract === token) sold += given[0]!.amount;
    }
    return sold;
  }

  /** Bought less sold of a token over all quotes, and the quotes. */
  traded(wallet: string, token: string): { net: bigint; quotes: Set<string> } {
    let net = 0n;
    const quotes = new Set<string>();
    for (const { kind, given, received, asset, quote } of this.byWallet.get(wallet) ?? []) {
      if (asset === null || quote === null || asset.standard === 'erc1155') continue;
      if ((asset.contract ?? 'native') !== token) continue;
      quotes.add(quote);
      net += kind === 'buy' ? received[0]!.amount : -given[0]!.amount;
    }
    return { net, quotes };
  }
}

function emptyProfit(block: number): PlainProfit {
  return {
    buys: 0,
    sells: 0,
    bought: 0n,
    spent: 0n,
    sold: 0n,
    received: 0n,
    realized: 0n,
    soldWithoutCost: 0n,
    receivedWithoutCost: 0n,
    position: 0n,
    cost: 0n,
    firstBlock: block,
    lastBlock: block,
  };
}
