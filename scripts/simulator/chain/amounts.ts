/** Amounts of generated transfers. */

import type { Prng } from '../../../src/lib/random.ts';
import { WEI_PER_COIN } from '../../../src/lib/units.ts';
import type { Erc20Token } from './actors.ts';

/**
 * Wei of a native transfer: log-uniform between 0.000001 and 30,000 coins, the low digits random so that few repeat.
 */
export function nativeAmount(prng: Prng): bigint {
  const coins = 10 ** (prng.fraction() * 10.5 - 6);
  const micro = BigInt(Math.floor(coins * 1e6));
  return (micro * WEI_PER_COIN) / 1000000n + BigInt(prng.uint32());
}

/** The part of a balance to move: in one of twenty cases all of it, else 1 % to 60 %. */
export function randomPortion(prng: Prng, balance: bigint): bigint {
  if (prng.below(100) < 5) return balance;
  return (balance * BigInt(1 + prng.below(60))) / 100n;
}

/** Base units of a mint: 1 to 1,000,000 whole tokens and a little. */
export function mintAmount(prng: Prng, token: Erc20Token): bigint {
  return BigInt(1 + prng.below(1e6)) * 10n ** BigInt(token.decimals) + BigInt(prng.below(1000));
}
