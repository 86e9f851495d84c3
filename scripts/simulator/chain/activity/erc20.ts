/** Transactions of ERC-20 tokens: transfers, mints, burns, swaps, and amounts at the upper end. */

import type { Hex } from '../../../../src/lib/hex.ts';
import { ZERO_ADDRESS } from '../../../../src/model/address.ts';
import { EVENT, encode, MAX_UINT256, SELECTOR, topic } from '../abi.ts';
import type { Erc20Token } from '../actors.ts';
import { mintAmount, nativeAmount, randomPortion } from '../amounts.ts';
import type { Transaction } from '../transaction.ts';
import type { World } from '../world.ts';
import { sendNative } from './native.ts';

export function sendErc20(world: World): Transaction {
  const { prng, actors } = world;
  const token = prng.pickZipf(actors.erc20);
  const holder = pickHolder(world, token);
  if (holder === null || prng.chance(0.06)) return mintErc20(world, token);
  const to = pickReceiver(world, holder);
  const amount = prng.chance(0.02) ? 0n : randomPortion(prng, balanceOf(token, holder));
  if (prng.chance(0.03)) {
    const burn = beginTokenCall(world, token, holder, encode(SELECTOR.burn, amount));
    moveErc20(world, burn, token, holder, ZERO_ADDRESS, amount);
    return burn;
  }
  const transfer = beginTokenCall(world, token, holder, encode(SELECTOR.transfer, to, amount));
  transfer.root.output = topic(1n);
  moveErc20(world, transfer, token, holder, to, amount);
  return transfer;
}

/** Token in, and either another token out or native currency paid by an internal call. */
export function swapErc20(world: World): Transaction {
  const { prng, actors } = world;
  const sold = prng.pickZipf(actors.erc20);
  const trader = pickHolder(world, sold);
  if (trader === null) return sendNative(world);
  const bought = prng.pickZipf(actors.erc20);
  const router = prng.pickZipf(actors.routers);
  const pool = prng.pickZipf(actors.others);
  const paysNative = prng.chance(0.4);

  const swap = world.begin(trader, router, 0n, encode(SELECTOR.swap, 1000n, trader)).pay();
  const amount = randomPortion(prng, balanceOf(sold, trader));
  swap.call(router, sold.address, 0n, encode(SELECTOR.transferFrom, trader, pool, amount));
  moveErc20(world, swap, sold, trader, pool, amount);
  swap.frame({ type: 'STATICCALL', from: router, to: pool, value: 0n, input: SELECTOR.getReserves });
  if (paysNative) payOut(world, swap, router, trader);
  else buyErc20(world, swap, bought, pool, trader);
  swap.emit(pool, [EVENT.sync], encode('0x', BigInt(prng.uint32()), BigInt(prng.uint32())));
  return swap;
}

/** The token whose amounts are 2^256 - 1 or close to it, so that sums of balances exceed 2^256. */
export function mintHugeAmount(world: World): Transaction {
  const { prng, actors } = world;
  const token = actors.huge;
  const minter = actors.wallet();
  const mint = world.begin(minter, token.address, 0n, encode(SELECTOR.mint, minter, MAX_UINT256)).pay();
  const minted = prng.chance(0.7) ? MAX_UINT256 : MAX_UINT256 - BigInt(prng.uint32());
  moveErc20(world, mint, token, ZERO_ADDRESS, minter, minted);
  if (prng.chance(0.5)) passHugeOn(world, mint);
  return mint;
}

function passHugeOn(world: World, transaction: Transaction): void {
  const { prng, actors } = world;
  const token = actors.huge;
  const holder = prng.pick(token.holders);
  const balance = balanceOf(token, holder);
  if (balance === 0n) return;
  const to = actors.wallet();
  const amount = balance > MAX_UINT256 ? MAX_UINT256 : randomPortion(prng, balance);
  moveErc20(world, transaction, token, holder, to, amount);
}

function mintErc20(world: World, token: Erc20Token): Transaction {
  const { prng, actors } = world;
  const minter = actors.wallet();
  const mint = beginTokenCall(world, token, minter, encode(SELECTOR.mint, minter, 1n));
  const to = prng.chance(0.9) ? minter : actors.wallet();
  moveErc20(world, mint, token, ZERO_ADDRESS, to, mintAmount(prng, token));
  return mint;
}

function payOut(world: World, swap: Transaction, router: Hex, trader: Hex): void {
  const wei = nativeAmount(world.prng);
  swap.call(router, trader, wei);
  swap.move(router, trader, wei);
}

/** The pool pays in tokens, and mints some for itself if it has too few. */
function buyErc20(world: World, swap: Transaction, token: Erc20Token, pool: Hex, trader: Hex): void {
  const wanted = mintAmount(world.prng, token);
  if (balanceOf(token, pool) < wanted) moveErc20(world, swap, token, ZERO_ADDRESS, pool, wanted);
  moveErc20(world, swap, token, pool, trader, randomPortion(world.prng, balanceOf(token, pool)));
}

/** A transaction to the token. A token behind a proxy delegates to its implementation. */
function beginTokenCall(world: World, token: Erc20Token, from: Hex, input: Hex): Transaction {
  const transaction = world.begin(from, token.address, 0n, input).pay();
  if (token.proxy !== null) {
    transaction.frame({ type: 'DELEGATECALL', from: token.address, to: token.proxy, value: 0n, input });
  }
  return transaction;
}

/** One Transfer log, its effect on the balances, and its entry in the ledger. */
export function moveErc20(
  world: World,
  transaction: Transaction,
  token: Erc20Token,
  from: Hex,
  to: Hex,
  amount: bigint,
): void {
  const logIndex = transaction.emit(
    token.address,
    [EVENT.transfer, topic(from), topic(to)],
    encode('0x', amount),
  );
  if (from !== ZERO_ADDRESS) token.balances.set(from, balanceOf(token, from) - amount);
  if (to !== ZERO_ADDRESS) credit(token, to, amount);
  world.ledger.book({ kind: 'erc20', token: token.address, from, to, amount, logIndex });
}

function credit(token: Erc20Token, to: Hex, amount: bigint): void {
  if (!token.balances.has(to)) token.holders.push(to);
  token.balances.set(to, balanceOf(token, to) + amount);
}

export function balanceOf(token: Erc20Token, holder: Hex): bigint {
  return token.balances.get(holder) ?? 0n;
}

/** A holder with a balance, or null if four tries found none. */
export function pickHolder({ prng }: World, token: Erc20Token): Hex | null {
  for (let tries = 0; tries < 4 && token.holders.length > 0; tries++) {
    const holder = prng.pickZipf(token.holders);
    if (balanceOf(token, holder) > 0n) return holder;
  }
  return null;
}

function pickReceiver({ prng, actors }: World, holder: Hex): Hex {
  if (prng.chance(0.03)) return holder;
  return prng.chance(0.12) ? actors.freshWallet() : actors.wallet();
}
