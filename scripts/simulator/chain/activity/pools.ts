/** What happens at a pool: buys, and the payments that buys and sales consist of. */
import type { Hex } from '../../../../src/lib/hex.ts';
import { ZERO_ADDRESS } from '../../../../src/model/address.ts';
import { EVENT, encode, SELECTOR, topic } from '../abi.ts';
import type { Erc20Token } from '../actors.ts';
import { nativeAmount, randomPortion } from '../amounts.ts';
import { constantProduct, type Market, TRADE_CONTRACTS } from '../markets.ts';
import type { Transaction } from '../transaction.ts';
import type { World } from '../world.ts';
import { balanceOf, moveErc20 } from './erc20.ts';

const { wrapped, router, feeTaker } = TRADE_CONTRACTS;

/** A wallet pays the market's coin for its token. It pays with native when it holds too little of the coin. */
export function buyAt(world: World, market: Market, wallet: Hex): Transaction {
  const { prng, markets } = world;
  if (market.coin === 'native') return buyFromPool(world, market, wallet, wallet);
  const coin = market.coin === 'wrapped' ? markets.wrapped : markets.stable;
  if (market.coin === 'stable' || prng.chance(0.3)) {
    const holder = balanceOf(coin, wallet) > 0n ? wallet : coin.holders[prng.below(coin.holders.length)];
    if (holder !== undefined && balanceOf(coin, holder) > 0n) return buyForCoins(world, market, coin, holder);
  }
  return market.coin === 'stable' ? mintStable(world) : buyThroughRouter(world, market, wallet);
}

/** Native for the token at a pool that holds native itself, and passes on one percent. */
export function buyFromPool(world: World, market: Market, payer: Hex, receiver: Hex): Transaction {
  const { pool } = market;
  const paid = nativeAmount(world.prng);
  const fee = paid / 100n;
  const swap = world.begin(payer, pool, paid, encode(SELECTOR.swap, receiver)).pay();
  if (fee > 0n) payInternally(swap, pool, feeTaker, fee);
  payOut(world, swap, market, paid - fee, receiver);
  return swap;
}

/** Native for the token at a pool of wrapped native: the router wraps, and pays back what was too much. */
export function buyThroughRouter(world: World, market: Market, wallet: Hex): Transaction {
  const { prng, markets } = world;
  const sent = nativeAmount(prng);
  const refund = prng.chance(0.3) ? sent / 20n : 0n;
  const paid = sent - refund;
  const swap = world.begin(wallet, router, sent, encode(SELECTOR.swap, paid, wallet)).pay();
  wrap(world, swap, router, paid);
  moveErc20(world, swap, markets.wrapped, router, market.pool, paid);
  payOut(world, swap, market, paid, wallet);
  if (refund > 0n) payInternally(swap, router, wallet, refund);
  return swap;
}

function buyForCoins(world: World, market: Market, coin: Erc20Token, wallet: Hex): Transaction {
  const paid = randomPortion(world.prng, balanceOf(coin, wallet));
  const swap = world.begin(wallet, market.pool, 0n, encode(SELECTOR.swap, paid, wallet)).pay();
  moveErc20(world, swap, coin, wallet, market.pool, paid);
  payOut(world, swap, market, paid, wallet);
  return swap;
}

/** The issuer of the stable coin gives some to a wallet. */
export function mintStable(world: World): Transaction {
  const { prng, actors, markets } = world;
  const to = actors.wallet();
  const amount = BigInt(1 + prng.below(100_000)) * 1_000_000n;
  const mint = world.begin(feeTaker, markets.stable.address, 0n, encode(SELECTOR.mint, to, amount)).pay();
  moveErc20(world, mint, markets.stable, ZERO_ADDRESS, to, amount);
  return mint;
}

/** The pool, which was paid, gives its token. */
export function payOut(world: World, swap: Transaction, market: Market, paid: bigint, receiver: Hex): void {
  const units = constantProduct(paid, market.coins, balanceOf(market.token, market.pool));
  market.coins += paid;
  moveErc20(world, swap, market.token, market.pool, receiver, units);
}

/** The pool takes in its token. Returns what it gives for it, which is booked as given. */
export function takeIn(world: World, swap: Transaction, market: Market, sold: bigint, seller: Hex): bigint {
  const { token, pool } = market;
  const received = constantProduct(sold, balanceOf(token, pool), market.coins);
  market.coins -= received;
  moveErc20(world, swap, token, seller, pool, sold);
  return received;
}

export function payInternally(transaction: Transaction, from: Hex, to: Hex, wei: bigint): void {
  transaction.call(from, to, wei);
  transaction.move(from, to, wei);
}

/** The wrapped coin logs a Transfer from the zero address, and a Deposit. */
export function wrap(world: World, transaction: Transaction, owner: Hex, wei: bigint): void {
  payInternally(transaction, owner, wrapped, wei);
  moveErc20(world, transaction, world.markets.wrapped, ZERO_ADDRESS, owner, wei);
  transaction.emit(wrapped, [EVENT.deposit, topic(owner)], encode('0x', wei));
}

export function unwrap(world: World, transaction: Transaction, owner: Hex, wei: bigint): void {
  moveErc20(world, transaction, world.markets.wrapped, owner, ZERO_ADDRESS, wei);
  transaction.emit(wrapped, [EVENT.withdrawal, topic(owner)], encode('0x', wei));
  payInternally(transaction, wrapped, owner, wei);
}
