/** Who takes part in the growing chain: wallets, tokens, pools and a few contracts, and how each is chosen. Pure. */
import { type Hex, hexToBytes } from '../../../src/lib/hex.ts';
import { ZERO_ADDRESS } from '../../../src/model/address.ts';
import { WRAPPED_NATIVE } from '../../../src/model/known-contracts.ts';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import { ADDRESS_BYTES } from '../../../src/store/schema.ts';

/** The chain is Ethereum to the index, so that its lists of known contracts apply. */
export const GROWTH_CHAIN_ID = 1;
export const NEW_WALLET_EVERY = 9;
export const FIRST_WALLETS = 1_000;
export const NEW_TOKEN_EVERY = 1_500;
export const FIRST_TOKENS = 50;
const HOT_WALLETS = 500;
/** Tokens that a wallet sends repeatedly. */
const OWN_TOKENS = 2;
/** Share of token transfers to known wallets that go to the token's trader. */
const TO_TRADER = 0.45;
/** Of ten tokens, those before the first are ERC-20, the others of the kinds named. */
const FIRST_OTHER_FORM = 8;
const FORMS = 10;

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** Numbers in [0, 1) derived from a seed. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = mix(seed ^ 0x5bd1e995) || 1;
  }

  next(): number {
    let state = this.state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.state = state;
    return (state >>> 0) / 2 ** 32;
  }

  /** A whole number below `limit`; a higher `skew` makes low ones likelier. */
  below(limit: number, skew = 1): number {
    return Math.floor(limit * this.next() ** skew);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.below(list.length)] ?? list[0];
  }

  /** A value of up to `bytes` bytes, mostly long. Above zero. */
  amount(bytes = 9): bigint {
    const length = Math.ceil(bytes * this.next() ** 0.5) || 1;
    let amount = BigInt(1 + this.below(255));
    for (let i = 1; i < length; i++) amount = amount * 256n + BigInt(this.below(256));
    return amount;
  }
}

/** Wallets and contracts share one numbering: even for wallets, odd for tokens, negative for other contracts. */
export type Party = number;

export const walletParty = (wallet: number): Party => wallet * 2;
export const tokenParty = (token: number): Party => token * 2 + 1;

/** Parties with an address of their own. */
const KNOWN = {
  zero: ZERO_ADDRESS,
  wrapped: WRAPPED_NATIVE[GROWTH_CHAIN_ID]?.[0] ?? ZERO_ADDRESS,
  /** USDC. */
  stable: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  /** The ERC-4337 EntryPoint 0.7. */
  entryPoint: '0x0000000071727de22e5e9d8baf0edac6f37da032',
} as const satisfies Record<string, Hex>;

const KNOWN_ADDRESSES = Object.values(KNOWN);

export const GROWTH_CONTRACTS = KNOWN;
export const ZERO: Party = -1;
export const WRAPPED: Party = -2;
export const STABLE: Party = -3;
export const ENTRY_POINT: Party = -4;
/** Swap for others and keep nothing. */
export const ROUTERS = [-10, -11, -12, -13, -14, -15] as const satisfies Party[];
/** Sell NFTs for others. */
export const MARKETS = [-16, -17, -18] as const satisfies Party[];
export const FEE_TAKERS = [-20, -21, -22] as const satisfies Party[];
/** Between native and the stable coin. */
export const STABLE_POOLS = [-30, -31, -32] as const satisfies Party[];
const FIRST_TOKEN_POOL = 100;

/** A token's pools: against native without wrapping, against wrapped native, and against the stable coin. */
export const PoolKind = { native: 0, wrapped: 1, stable: 2 } as const;
export type PoolKind = (typeof PoolKind)[keyof typeof PoolKind];

export const poolOf = (token: number, kind: PoolKind): Party => -FIRST_TOKEN_POOL - token * 3 - kind;

export function addressOf(party: Party): Uint8Array {
  const known = KNOWN_ADDRESSES[-1 - party];
  if (known !== undefined) return hexToBytes(known);
  const bytes = Buffer.alloc(ADDRESS_BYTES);
  writeWords(bytes, 0, party, ADDRESS_BYTES / 4);
  return bytes;
}

/** Writes words that are derived from the seed. */
export function writeWords(bytes: Buffer, at: number, seed: number, words: number): void {
  for (let word = 0; word < words; word++)
    bytes.writeUInt32LE(mix(mix(seed) + Math.imul(word + 1, 0x9e3779b9)), at + 4 * word);
}

/** Positions of the distinct parties of a batch. */
export class PartyTable {
  readonly parties: Party[] = [];
  private readonly positions = new Map<Party, number>();

  positionOf(party: Party): number {
    let position = this.positions.get(party);
    if (position === undefined) {
      position = this.parties.length;
      this.positions.set(party, position);
      this.parties.push(party);
    }
    return position;
  }

  addresses(): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(this.parties.length * ADDRESS_BYTES);
    for (const [i, party] of this.parties.entries()) bytes.set(addressOf(party), i * ADDRESS_BYTES);
    return bytes;
  }
}

/** Any wallet but the newest, whose number is `count`. */
export function knownWallet(random: Random, count: number): number {
  return random.chance(0.45) ? random.below(HOT_WALLETS, 3) : rareWallet(random, count);
}

/** One of the recent wallets or of all. */
export function rareWallet(random: Random, count: number): number {
  if (random.chance(0.55)) return recentOf(random, count);
  const bits = Math.floor(Math.log2(count));
  const rank = random.below(2 ** bits, 3);
  return Math.imul(rank, 0x9e3779b1) & (2 ** bits - 1);
}

/** One of `count`, by age, log-uniformly. */
export function recentOf(random: Random, count: number): number {
  return count - Math.ceil(count ** (random.next() ** 1.25));
}

/** One of the wallet's own tokens or a popular one, of the kind. Tokens are numbered by age. */
export function tokenOf(random: Random, kind: TransferKind, wallet: number, count: number): number {
  return random.chance(0.2) ? popularToken(random, kind, count) : ownToken(random, kind, wallet, count);
}

export function popularToken(random: Random, kind: TransferKind, count: number): number {
  return withForm(random.below(count, 4), kind, count);
}

export function ownToken(random: Random, kind: TransferKind, wallet: number, count: number): number {
  const own = new Random(wallet * OWN_TOKENS + random.below(OWN_TOKENS));
  // Tokens that existed when the wallet appeared, because a choice must not change later.
  const then = Math.min(count, FIRST_TOKENS + Math.floor((wallet * NEW_WALLET_EVERY) / NEW_TOKEN_EVERY));
  return withForm(own.below(then, 4), kind, then);
}

/** The token of this kind that is nearest to the number. A token logs transfers of one kind only. */
export function withForm(token: number, kind: TransferKind, count: number): number {
  const form = token % FORMS;
  if (kind === TransferKind.erc20) return form < FIRST_OTHER_FORM ? token : token - form;
  const other = token - form + (kind === TransferKind.erc721 ? FIRST_OTHER_FORM : FIRST_OTHER_FORM + 1);
  return other < count ? other : other - FORMS;
}

/** The kind of the transfers that the token logs. */
export function formOf(token: number): TransferKind {
  const form = token % FORMS;
  if (form < FIRST_OTHER_FORM) return TransferKind.erc20;
  return form === FIRST_OTHER_FORM ? TransferKind.erc721 : TransferKind.erc1155;
}

/** A known wallet, or the hot wallet that gathers the token. */
export function receiverOf(random: Random, token: number | null, wallets: number): number {
  if (token !== null && random.chance(TO_TRADER)) return mix(token) % HOT_WALLETS;
  return knownWallet(random, wallets);
}
