/** Launches: a new token and its pool, and their first buyers. */
import type { Hex } from '../../../../src/lib/hex.ts';
import { WEI_PER_COIN } from '../../../../src/lib/units.ts';
import { ZERO_ADDRESS } from '../../../../src/model/address.ts';
import { encode, SELECTOR } from '../abi.ts';
import { newErc20 } from '../actors.ts';
import { nativeAmount } from '../amounts.ts';
import { type Coin, type Market, TRADE_CONTRACTS } from '../markets.ts';
import type { Transaction } from '../transaction.ts';
import type { World } from '../world.ts';
import { moveErc20 } from './erc20.ts';
import { buyAt, payOut, wrap } from './pools.ts';

const { router } = TRADE_CONTRACTS;

/** Coins of each kind in a new pool. */
const FIRST_COINS: Record<Coin, bigint> = {
  native: 100n * WEI_PER_COIN,
  wrapped: 1_000n * WEI_PER_COIN,
  stable: 100_000n * 10n ** 6n,
};
const FIRST_WHOLE_TOKENS = 1_000_000_000n;
/** The pool of the stable coin holds this many coins of both. */
const STABLE_WHOLE_COINS = 10_000_000n;

/** A new token: its whole supply goes to its pool, with coins. Some launches have buyers that knew of it. */
export function launch(world: World): Transaction {
  const { prng, actors, markets } = world;
  const coin = prng.pick<Coin>(['native', 'native', 'wrapped', 'wrapped', 'stable']);
  const token = newErc20(prng, actors.erc20.length);
  actors.erc20.push(token);
  const market = markets.open(token, coin, prng.address());
  const created = openPool(
    world,
    market,
    FIRST_WHOLE_TOKENS * 10n ** BigInt(token.decimals),
    FIRST_COINS[coin],
  );
  if (coin === 'native' && prng.chance(0.3)) markets.planned.push(() => buyBundle(world, market));
  else if (prng.chance(0.5)) planSnipers(world, market);
  return created;
}

/** The market of native against the stable coin. */
export function openStableMarket(world: World): Transaction {
  const { prng, markets } = world;
  const market = markets.open(markets.stable, 'wrapped', prng.address());
  return openPool(world, market, STABLE_WHOLE_COINS * 10n ** 6n, STABLE_WHOLE_COINS * WEI_PER_COIN);
}

function openPool(world: World, market: Market, units: bigint, coins: bigint): Transaction {
  const { actors, markets } = world;
  const { token, coin, pool } = market;
  const launcher = actors.freshWallet();
  const value = coin === 'stable' ? 0n : coins;
  const opening = world.begin(launcher, router, value, encode(SELECTOR.mint, pool, units)).pay();
  moveErc20(world, opening, token, ZERO_ADDRESS, pool, units);
  if (coin === 'native') {
    opening.call(router, pool, coins);
    opening.move(router, pool, coins);
  } else if (coin === 'wrapped') {
    wrap(world, opening, router, coins);
    moveErc20(world, opening, markets.wrapped, router, pool, coins);
  } else {
    moveErc20(world, opening, markets.stable, ZERO_ADDRESS, pool, coins);
  }
  market.coins = coins;
  return opening;
}

/** The next trades are of a few wallets, most of them new. */
function planSnipers(world: World, market: Market): void {
  const { prng, actors, markets } = world;
  for (let left = 2 + prng.below(4); left > 0; left--) {
    markets.planned.push(() => {
      return buyAt(world, market, prng.chance(0.7) ? actors.freshWallet() : actors.wallet());
    });
  }
}

/** One wallet pays for several new ones. */
function buyBundle(world: World, market: Market): Transaction {
  const { prng, actors } = world;
  const receivers: Hex[] = Array.from({ length: 4 + prng.below(4) }, () => actors.freshWallet());
  const each = nativeAmount(prng);
  const value = each * BigInt(receivers.length);
  const bundle = world.begin(actors.wallet(), market.pool, value, encode(SELECTOR.disperse, each)).pay();
  for (const receiver of receivers) payOut(world, bundle, market, each, receiver);
  return bundle;
}
