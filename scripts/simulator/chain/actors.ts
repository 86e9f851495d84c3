/** The participants of a generated chain: wallets, token contracts with their balances, and other contracts. */

import type { Hex } from '../../../src/lib/hex.ts';
import type { Prng } from '../../../src/lib/random.ts';

const DECIMALS = [18, 18, 18, 6, 8, 0] as const;

export interface Erc20Token {
  address: Hex;
  decimals: number;
  /** Implementation the token delegates to, or null. */
  proxy: Hex | null;
  balances: Map<Hex, bigint>;
  /** Every receiver of the token, in order of the first receipt. */
  holders: Hex[];
}

export interface Erc721Token {
  address: Hex;
  /** Whether its Transfer indexes its arguments; those of the first NFTs did not. */
  isIndexed: boolean;
  owners: Map<bigint, Hex>;
  /** Ids in existence. */
  ids: bigint[];
  nextId: number;
}

/** One holder's balance of one id. */
interface Erc1155Position {
  holder: Hex;
  id: bigint;
  balance: bigint;
}

export interface Erc1155Token {
  address: Hex;
  /** Every position that ever existed, in order of the first receipt. */
  positions: Erc1155Position[];
  /** The same positions by `holder|id`. */
  byKey: Map<string, Erc1155Position>;
}

export interface ActorCounts {
  /** Wallets that exist at the start. More appear as the chain grows. */
  wallets: number;
  /** ERC-20 contracts. */
  tokens: number;
  /** See ChainOptions. */
  unindexedEvery: number;
}

export class Actors {
  private readonly prng: Prng;
  readonly wallets: Hex[];
  readonly erc20: Erc20Token[];
  /** The one ERC-20 whose amounts reach 2^256 - 1 and whose balances exceed it. */
  readonly huge: Erc20Token;
  readonly erc721: Erc721Token[];
  readonly erc1155: Erc1155Token[];
  readonly routers: Hex[];
  /** Contracts that pay native currency out to many. */
  readonly dispersers: Hex[];
  /** Pools and other contracts. */
  readonly others: Hex[];
  readonly proposers: Hex[];

  constructor(prng: Prng, counts: ActorCounts) {
    this.prng = prng;
    const { unindexedEvery } = counts;
    this.wallets = addresses(prng, counts.wallets);
    this.erc20 = Array.from({ length: counts.tokens }, (_, i) => newErc20(prng, i));
    this.huge = { address: prng.address(), decimals: 18, proxy: null, balances: new Map(), holders: [] };
    this.erc721 = addresses(prng, 60).map((address, i) => ({
      address,
      isIndexed: unindexedEvery === 0 || (i + 1) % unindexedEvery !== 0,
      owners: new Map(),
      ids: [],
      nextId: 1,
    }));
    this.erc1155 = addresses(prng, 30).map((address) => ({ address, positions: [], byKey: new Map() }));
    this.routers = addresses(prng, 6);
    this.dispersers = addresses(prng, 4);
    this.others = addresses(prng, 40);
    this.proposers = addresses(prng, 20);
  }

  /** One of the existing wallets. */
  wallet(): Hex {
    return this.prng.pickZipf(this.wallets);
  }

  /** A wallet new to the chain. */
  freshWallet(): Hex {
    const address = this.prng.address();
    this.wallets.push(address);
    return address;
  }
}

function addresses(prng: Prng, length: number): Hex[] {
  return Array.from({ length }, () => prng.address());
}

/** A token that nobody holds. The index decides its decimals. */
export function newErc20(prng: Prng, index: number): Erc20Token {
  return {
    address: prng.address(),
    decimals: DECIMALS[index % DECIMALS.length]!,
    proxy: index % 4 === 1 ? prng.address() : null,
    balances: new Map(),
    holders: [],
  };
}
