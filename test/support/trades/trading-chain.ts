/** A token that ten wallets trade with a pool, and what the documented questions about its trades should find. */
import { address, type NamedBlock, type NamedTransfer } from '../index/index-fixture.ts';
import type { PlainTrades } from './plain-trades.ts';

/** The token of `tradingBlocks`. */
export const COIN = address('coin');

/** Buys and sells of a token by ten wallets, at prices that rise and fall. */
export function tradingBlocks(): NamedBlock[] {
  const swap = (wallet: string, isBuy: boolean, units: bigint, price: bigint): NamedTransfer[] => {
    const [giver, taker] = isBuy ? ['pool', wallet] : [wallet, 'pool'];
    return [
      { kind: 'native_internal', from: taker, to: giver, amount: units * price },
      { kind: 'erc20', from: giver, to: taker, token: 'coin', amount: units },
    ];
  };
  return Array.from({ length: 40 }, (_, i) => {
    const wallet = `trader ${(i * 7) % 10}`;
    const price = BigInt(50 + ((i * 37) % 60));
    return { [`swap ${i}`]: swap(wallet, i % 20 < 12, BigInt(10 + i), price) };
  });
}

/** Digits of the wallets that bought and sold it for the native coin, with their profits by average prices. */
export function profitsOf(trades: PlainTrades): { wallet: string; profit: bigint }[] {
  return bothSided(trades)
    .map(({ wallet, bought, spent, sold, received }) => {
      let matched = bought;
      if (sold < matched) matched = sold;
      return { wallet, profit: (received * matched) / sold - (spent * matched) / bought };
    })
    .sort((a, b) => Number(b.profit - a.profit) || (a.wallet < b.wallet ? -1 : 1));
}

/** Digits of those that sold it at a higher price than they paid, in their order. */
export function winnersOf(trades: PlainTrades): string[] {
  return bothSided(trades)
    .filter(({ bought, spent, sold, received }) => received * bought > spent * sold)
    .map(({ wallet }) => wallet)
    .sort();
}

/** The number of buys of all tokens. */
export function buysOf(trades: PlainTrades): number {
  return [...trades.byWallet.values()].flat().filter(({ kind }) => kind === 'buy').length;
}

function bothSided(trades: PlainTrades) {
  return [...trades.byWallet.keys()].flatMap((wallet) => {
    const profit = trades.profits(wallet, 'native').get(COIN);
    const isBoth = profit !== undefined && profit.buys > 0 && profit.sells > 0;
    return isBoth ? [{ wallet: wallet.slice(2), ...profit }] : [];
  });
}
