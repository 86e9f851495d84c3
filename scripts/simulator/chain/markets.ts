/** The markets of a generated chain: what is traded where, and the contracts that take part. */
import type { Hex } from '../../../src/lib/hex.ts';
import type { Prng } from '../../../src/lib/random.ts';
import type { Erc20Token } from './actors.ts';
import type { Transaction } from './transaction.ts';

/** Contracts of every chain with `trades`. An index knows the first two by its configuration only. */
export const TRADE_CONTRACTS = {
  /** The native coin as a token. It logs a Transfer beside each Deposit and Withdrawal. */
  wrapped: '0x7777777777777777777777777777777777770001',
  /** A stable coin with 6 decimals. */
  stable: '0x7777777777777777777777777777777777770002',
  /** The ERC-4337 EntryPoint 0.7. */
  entryPoint: '0x0000000071727de22e5e9d8baf0edac6f37da032',
  /** Swaps for others and keeps nothing. */
  router: '0x7777777777777777777777777777777777770003',
  /** Sells NFTs for others and keeps nothing. */
  nftMarket: '0x7777777777777777777777777777777777770004',
  /** Receives fees and pays nothing. */
  feeTaker: '0x7777777777777777777777777777777777770005',
} as const satisfies Record<string, Hex>;

/** What a pool is paid in. */
export type Coin = 'native' | 'wrapped' | 'stable';

/** A pool of a token against a coin, with a constant product. It holds both. */
export interface Market {
  token: Erc20Token;
  coin: Coin;
  pool: Hex;
  /** The pool's own token, for what is put into it. */
  shares: Erc20Token;
  /** Base units of the coin in the pool. Those of the token are its balance. */
  coins: bigint;
}

export class Markets {
  readonly wrapped: Erc20Token = coinToken(TRADE_CONTRACTS.wrapped, 18);
  readonly stable: Erc20Token = coinToken(TRADE_CONTRACTS.stable, 6);
  /** Native against the stable coin; null until it opens. */
  ofStable: Market | null = null;
  /** All others, and those that are paid in each coin, oldest first. */
  readonly list: Market[] = [];
  private readonly byCoin: Record<Coin, Market[]> = { native: [], wrapped: [], stable: [] };
  readonly pools = new Set<Hex>();
  /** What follows in the next transactions, such as the first buyers of a launch. */
  readonly planned: (() => Transaction)[] = [];

  open(token: Erc20Token, coin: Coin, pool: Hex): Market {
    const market = { token, coin, pool, shares: coinToken(pool, 18), coins: 0n };
    if (token === this.stable) this.ofStable = market;
    else {
      this.list.push(market);
      this.byCoin[coin].push(market);
    }
    this.pools.add(pool);
    // A pool pays only for what it receives: it is never chosen as a holder.
    for (const held of [token, this.wrapped, this.stable]) held.balances.set(pool, 0n);
    return market;
  }

  /** One that is paid in this coin, or any of the list: mostly a young one. */
  pick(prng: Prng, coin?: Coin): Market | null {
    const list = coin === undefined ? this.list : this.byCoin[coin];
    if (list.length === 0) return null;
    const age = prng.zipfIndex(list.length);
    return list[prng.chance(0.6) ? list.length - 1 - age : age] ?? null;
  }
}

function coinToken(address: Hex, decimals: number): Erc20Token {
  return { address, decimals, proxy: null, balances: new Map(), holders: [] };
}

/** What a pool gives for `paid`: the product of its reserves stays the same. */
export function constantProduct(paid: bigint, reservePaid: bigint, reserveGiven: bigint): bigint {
  return (reserveGiven * paid) / (reservePaid + paid);
}
