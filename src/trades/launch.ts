/** What the first holders of a token have in common: groups, and counts by definition. */
import { share } from '../lib/units.ts';
import type { Acquisition } from './acquisition.ts';

/** A first holder, with how it got the token. */
export interface LaunchBuyer extends Acquisition {
  /** wallets.id. */
  wallet: number;
  block: number;
  /** The first transfer of the transaction in which it got the token. */
  first: number;
  /** What it holds now. */
  balance: bigint;
  /** The wallet of its first funding, null without one. */
  funder: number | null;
  /** Whether that one funded more wallets than share anything. */
  isHub: boolean;
  /** Blocks from its first funding to `block`; null without one before. */
  fundingAge: number | null;
}

export interface LaunchThresholds {
  sniperBlocks: number;
  bundleWallets: number;
  freshBlocks: number;
}

/** Numbers from 1 for the wallets of a group of at least two, in the order of the groups' first members; else null. */
export interface LaunchGroups {
  sameBlock: number | null;
  samePayer: number | null;
  sameFunder: number | null;
}

function isBought({ how }: Acquisition): boolean {
  return how === 'bought' || how === 'bought_for';
}

/**
 * The holders that groups and counts are of. Left out: who passed all of it on at once, such as a router, and who got
 * it without paying and sold it to one of the others, such as a pool.
 */
export function countedBuyers<T extends LaunchBuyer>(buyers: readonly T[]): ReadonlySet<T> {
  const sellers = new Set(buyers.flatMap((buyer) => buyer.sellers));
  return new Set(
    buyers.filter((buyer) => buyer.amount > 0n && (isBought(buyer) || !sellers.has(buyer.wallet))),
  );
}

/**
 * The block from which the token could be bought: where the first of those who sold it to its first buyer got it. It is
 * the token's first block if it was minted to that buyer, or if the seller is not among the first holders. Null without
 * a buyer.
 */
export function openBlock(buyers: readonly LaunchBuyer[], firstBlock: number): number | null {
  const first = firstBought(buyers);
  if (first === undefined) return null;
  const sources = buyers.filter(({ wallet }) => first.sellers.includes(wallet)).map(({ block }) => block);
  return sources.length === 0 ? firstBlock : Math.min(...sources);
}

function firstBought(buyers: readonly LaunchBuyer[]): LaunchBuyer | undefined {
  return buyers.find((buyer) => isBought(buyer) && buyer.amount > 0n);
}

/** Who paid for the tokens of a buyer. */
function payerOf({ how, wallet, payer }: LaunchBuyer): number | null {
  return how === 'bought' ? wallet : payer;
}

/** A funder of too many wallets, such as an exchange, connects none. */
function sharedFunder({ funder, isHub }: LaunchBuyer): number | null {
  return isHub ? null : funder;
}

/** The groups of each buyer, in their order. */
export function launchGroups(
  buyers: readonly LaunchBuyer[],
  counted: ReadonlySet<LaunchBuyer>,
): LaunchGroups[] {
  const numbersOf = (keyOf: (buyer: LaunchBuyer) => number | null) =>
    groupNumbers(buyers.map((buyer) => (counted.has(buyer) ? keyOf(buyer) : null)));
  const blocks = numbersOf(({ block }) => block);
  const payers = numbersOf(payerOf);
  const funders = numbersOf(sharedFunder);
  return buyers.map((_, i) => ({
    sameBlock: blocks[i] ?? null,
    samePayer: payers[i] ?? null,
    sameFunder: funders[i] ?? null,
  }));
}

function groupNumbers(keys: readonly (number | null)[]): (number | null)[] {
  const sizes = new Map<number, number>();
  for (const key of keys) if (key !== null) sizes.set(key, (sizes.get(key) ?? 0) + 1);
  const numbers = new Map<number, number>();
  return keys.map((key) => {
    if (key === null || (sizes.get(key) ?? 0) < 2) return null;
    const number = numbers.get(key) ?? numbers.size + 1;
    numbers.set(key, number);
    return number;
  });
}

export interface LaunchSummary {
  counted: number;
  snipers: number;
  bundles: number;
  sameFunderGroups: number;
  insiders: number;
  fresh: number;
  heldShare: number | null;
  supplyShare: number | null;
}

/** `open` is the openBlock, `supply` null while unknown. */
export function launchSummary(
  buyers: readonly LaunchBuyer[],
  open: number | null,
  supply: bigint | null,
  { sniperBlocks, bundleWallets, freshBlocks }: LaunchThresholds,
): LaunchSummary {
  const counted = countedBuyers(buyers);
  const listed = [...counted];
  const count = (holds: (buyer: LaunchBuyer) => boolean) => listed.filter(holds).length;
  const firstSale = firstBought(buyers)?.first ?? 0;
  const funderGroups = launchGroups(buyers, counted).map(({ sameFunder }) => sameFunder ?? 0);
  const held = listed.reduce((sum, { balance }) => (balance > 0n ? sum + balance : sum), 0n);
  const kept = listed.reduce((sum, buyer) => sum + keptAmount(buyer), 0n);
  const got = listed.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    counted: listed.length,
    snipers: count((buyer) => isBought(buyer) && open !== null && buyer.block - open <= sniperBlocks),
    bundles: bundleSizes(listed).filter((size) => size >= bundleWallets).length,
    sameFunderGroups: Math.max(0, ...funderGroups),
    insiders: count((buyer) => !isBought(buyer) && buyer.first < firstSale),
    fresh: count(({ fundingAge }) => fundingAge !== null && fundingAge <= freshBlocks),
    heldShare: got === 0n ? null : share(kept, got),
    supplyShare: supply === null || supply <= 0n || held > supply ? null : share(held, supply),
  };
}

/** How much of what it got a buyer can still hold. */
function keptAmount({ balance, amount }: LaunchBuyer): bigint {
  if (balance <= 0n) return 0n;
  return balance < amount ? balance : amount;
}

/** The fraction of the received amount that a buyer still holds; null if it passed all of it on at once. */
export function heldShare(buyer: LaunchBuyer): number | null {
  return buyer.amount === 0n ? null : share(keptAmount(buyer), buyer.amount);
}

/**
 * The sizes of the sets of buyers of one block that a common payer or funder connects, also through others of the set.
 */
function bundleSizes(buyers: readonly LaunchBuyer[]): number[] {
  const setOf = new Map<string, Set<LaunchBuyer>>();
  for (const buyer of buyers.filter(isBought)) {
    const keys = [`payer ${payerOf(buyer)}`, `funder ${sharedFunder(buyer)}`]
      .filter((key) => !key.endsWith('null'))
      .map((key) => `${buyer.block} ${key}`);
    const merged = new Set([buyer, ...keys.flatMap((key) => [...(setOf.get(key) ?? [])])]);
    const replaced = new Set(keys.map((key) => setOf.get(key)));
    for (const key of keys) setOf.set(key, merged);
    for (const [key, set] of setOf) if (replaced.has(set)) setOf.set(key, merged);
  }
  return [...new Set(setOf.values())].map((set) => set.size);
}
