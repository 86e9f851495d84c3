import type { Hex } from '../../../../src/lib/hex.ts';
import { nativeAmount } from '../amounts.ts';
import type { Transaction } from '../transaction.ts';
import type { World } from '../world.ts';

/** How many of the most recently funded wallets may fund the next one. */
const FUNDING_WINDOW = 50;
/** `recentlyFunded` is halved when it exceeds this. */
const MAX_RECENTLY_FUNDED = 5000;

export function sendNative(world: World): Transaction {
  const from = world.actors.wallet();
  const to = world.actors.wallet();
  return world.begin(from, to, nativeAmount(world.prng)).pay();
}

export function sendZeroValue(world: World): Transaction {
  const from = world.actors.wallet();
  return world.begin(from, world.actors.wallet(), 0n).pay();
}

export function sendToSelf(world: World): Transaction {
  const wallet = world.actors.wallet();
  return world.begin(wallet, wallet, nativeAmount(world.prng)).pay();
}

/** A fresh wallet gets its first coins. Funders are often fresh themselves, so funding chains grow. */
export function fundFreshWallet(world: World): Transaction {
  const { prng, recentlyFunded } = world;
  const fromRecent = prng.chance(0.45) && recentlyFunded.length > 0;
  const funder = fromRecent ? recentFunder(world) : world.actors.wallet();
  const transaction = payFreshWallet(world, funder);
  if (recentlyFunded.length > MAX_RECENTLY_FUNDED) recentlyFunded.splice(0, MAX_RECENTLY_FUNDED / 2);
  return transaction;
}

/** One funder, several fresh wallets in the following transactions: coordinated wallets. */
export function startFundingBurst(world: World): Transaction {
  const funder = world.actors.wallet();
  const wallets = 3 + world.prng.below(8);
  for (let i = 0; i < wallets; i++) world.fundingQueue.push(funder);
  return fundFreshWallet(world);
}

/** Pays a wallet that is new to the chain. */
export function payFreshWallet(world: World, funder: Hex): Transaction {
  const wallet = world.actors.freshWallet();
  const transaction = world.begin(funder, wallet, nativeAmount(world.prng)).pay();
  world.recentlyFunded.push(wallet);
  return transaction;
}

function recentFunder({ prng, recentlyFunded }: World): Hex {
  const back = prng.zipfIndex(Math.min(recentlyFunded.length, FUNDING_WINDOW));
  return recentlyFunded[recentlyFunded.length - 1 - back]!;
}
