/** Profits by the definitions, with numbers worked out by hand. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { priceText } from '../../src/trades/price.ts';
import {
  addToSums,
  averageCostProfit,
  emptySums,
  ProfitLedger,
  profitTotals,
  shareOf,
} from '../../src/trades/profit.ts';
import type { SummedTrade } from '../../src/trades/trade.ts';

const trade = (isBuy: boolean, amount: number, quoteAmount: number): SummedTrade => ({
  token: 1,
  quote: 0,
  isBuy,
  amount: BigInt(amount),
  quoteAmount: BigInt(quoteAmount),
});
const buy = (amount: number, cost: number) => trade(true, amount, cost);
const sell = (amount: number, brought: number) => trade(false, amount, brought);

function ledger(...trades: SummedTrade[]): ProfitLedger {
  const result = new ProfitLedger();
  for (const each of trades) result.add(each);
  return result;
}

const results = ({ realizedProfit, soldWithoutCost, receivedWithoutCost, position, cost }: ProfitLedger) => ({
  realizedProfit: Number(realizedProfit),
  soldWithoutCost: Number(soldWithoutCost),
  receivedWithoutCost: Number(receivedWithoutCost),
  position: Number(position),
  cost: Number(cost),
});

describe('the realized profit', () => {
  it('is what a sale brought above the average cost of the position', () => {
    assert.deepEqual(results(ledger(buy(10, 100), buy(10, 200), sell(5, 100))), {
      realizedProfit: 100 - 75,
      soldWithoutCost: 0,
      receivedWithoutCost: 0,
      position: 15,
      cost: 225,
    });
  });

  it('does not move by a later buy, unlike the average profit', () => {
    const before = ledger(buy(10, 100), sell(5, 100));
    const after = ledger(buy(10, 100), sell(5, 100), buy(10, 900));
    assert.equal(before.realizedProfit, 50n);
    assert.equal(after.realizedProfit, 50n);
    assert.equal(averageCostProfit(before.sums), 50n);
    assert.equal(averageCostProfit(after.sums), 100n - 250n);
  });

  it('leaves out what was sold beyond the position', () => {
    assert.deepEqual(results(ledger(buy(3, 30), sell(10, 101))), {
      realizedProfit: 30 - 30, // floor(101 x 3 / 10) - 30
      soldWithoutCost: 7,
      receivedWithoutCost: 71,
      position: 0,
      cost: 0,
    });
    assert.deepEqual(results(ledger(sell(10, 100), buy(10, 50))), {
      realizedProfit: 0,
      soldWithoutCost: 10,
      receivedWithoutCost: 100,
      position: 10,
      cost: 50,
    });
  });

  it('rounds each term down, and keeps the rest of the cost', () => {
    assert.deepEqual(results(ledger(buy(3, 10), sell(1, 5), sell(1, 5), sell(1, 5))), {
      realizedProfit: 5 - 3 + (5 - 3) + (5 - 4), // costs floor(10/3), floor(7/2), floor(4/1)
      soldWithoutCost: 0,
      receivedWithoutCost: 0,
      position: 0,
      cost: 0,
    });
  });
});

describe('the average profit', () => {
  it('is 0 without a buy or without a sale', () => {
    assert.equal(averageCostProfit(ledger(buy(5, 10)).sums), 0n);
    assert.equal(averageCostProfit(ledger(sell(5, 10)).sums), 0n);
    assert.equal(averageCostProfit(emptySums()), 0n);
  });

  it('compares what was matched of both sides', () => {
    assert.equal(averageCostProfit(ledger(buy(10, 100), sell(4, 81)).sums), 81n - 40n);
    assert.equal(averageCostProfit(ledger(buy(4, 41), sell(10, 99)).sums), 39n - 41n);
  });

  it('goes by sums that a trade can be taken back from', () => {
    const { sums } = ledger(buy(10, 100), sell(4, 81));
    addToSums(sums, sell(4, 81), -1);
    assert.deepEqual(sums, ledger(buy(10, 100)).sums);
  });
});

describe('totals', () => {
  it('count wins and losses among the tokens that were bought and sold', () => {
    const totals = profitTotals([
      ledger(buy(1, 10), sell(1, 15)),
      ledger(buy(1, 10), sell(1, 7)),
      ledger(buy(1, 10), sell(1, 30)),
      ledger(buy(1, 10), sell(1, 10)),
      ledger(buy(1, 10)),
      ledger(sell(1, 38)),
    ]);
    assert.deepEqual(totals, {
      realizedProfit: 5n - 3n + 20n,
      spent: 50n,
      received: 100n,
      tokens: 6,
      wins: 2,
      losses: 1,
      winRate: 0.666666666666,
      unmatchedShare: 0.38,
    });
  });

  it('have no shares of nothing', () => {
    const { winRate, unmatchedShare } = profitTotals([]);
    assert.deepEqual([winRate, unmatchedShare], [null, null]);
    assert.equal(shareOf(2n, 3n), 0.666666666666);
  });
});

describe('a price', () => {
  const price = (quote: [bigint, number | null], token: [bigint, number | null]) =>
    priceText({ amount: quote[0], decimals: quote[1] }, { amount: token[0], decimals: token[1] });

  it('is in whole units on both sides', () => {
    assert.equal(price([1_500_000n, 6], [10n ** 18n, 18]), '1.5');
    assert.equal(price([10n ** 18n, 18], [4n, 0]), '0.25');
    assert.equal(price([3n * 10n ** 18n, 18], [10n ** 6n, 6]), '3');
    assert.equal(price([0n, 18], [4n, 0]), '0');
  });

  it('has 18 significant digits, cut', () => {
    assert.equal(price([2n, 0], [3n, 0]), '0.666666666666666666');
    assert.equal(price([200n, 0], [3n, 0]), '66.6666666666666666');
    assert.equal(price([2n, 18], [3n, 0]), '0.000000000000000000666666666666666666');
    assert.equal(price([10n ** 30n, 0], [3n, 0]), '333333333333333333000000000000');
    assert.equal(price([123_456_789_012_345_678_901n, 0], [1n, 0]), '123456789012345678000');
    assert.equal(price([10n ** 17n, 0], [1n, 0]), '100000000000000000');
  });

  it('is unknown without decimals', () => {
    assert.equal(price([1n, null], [1n, 0]), null);
    assert.equal(price([1n, 0], [1n, null]), null);
    assert.equal(price([1n, 0], [0n, 0]), null);
  });
});
