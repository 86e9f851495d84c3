/** Profit of a wallet with one token against one quote. All amounts are integers in base units. */
import { share } from '../lib/units.ts';
import type { SummedTrade } from './trade.ts';

/** The additive sums of trades: their order does not matter. */
export interface TradeSums {
  buys: number;
  sells: number;
  /** Of the token. */
  bought: bigint;
  sold: bigint;
  /** Of the quote. */
  spent: bigint;
  received: bigint;
}

export function emptySums(): TradeSums {
  return { buys: 0, sells: 0, bought: 0n, sold: 0n, spent: 0n, received: 0n };
}

/** Adds a trade to sums; with a sign of -1 takes it back. */
export function addToSums(
  sums: TradeSums,
  { isBuy, amount, quoteAmount }: SummedTrade,
  sign: 1 | -1 = 1,
): void {
  const [added, quoteAdded] = sign > 0 ? [amount, quoteAmount] : [-amount, -quoteAmount];
  if (isBuy) {
    sums.buys += sign;
    sums.bought += added;
    sums.spent += quoteAdded;
  } else {
    sums.sells += sign;
    sums.sold += added;
    sums.received += quoteAdded;
  }
}

/** What was bought and sold again, by sums alone. */
function matchedAmount({ bought, sold }: Pick<TradeSums, 'bought' | 'sold'>): bigint {
  return bought < sold ? bought : sold;
}

/** Profit by average prices over all trades, for rankings. A later buy at another price changes it. */
export function averageCostProfit(sums: TradeSums): bigint {
  const matched = matchedAmount(sums);
  if (matched === 0n) return 0n;
  return portion(sums.received, matched, sums.sold) - portion(sums.spent, matched, sums.bought);
}

/** floor(amount x part / whole), 0 where the whole is 0. */
function portion(amount: bigint, part: bigint, whole: bigint): bigint {
  return whole === 0n ? 0n : (amount * part) / whole;
}

/** Profit in the order of the trades. */
export class ProfitLedger {
  readonly sums = emptySums();
  /** What is left of what was bought, and what it cost. */
  position = 0n;
  cost = 0n;
  realizedProfit = 0n;
  /** What was sold beyond the position, and what it brought. Its cost is unknown. */
  soldWithoutCost = 0n;
  receivedWithoutCost = 0n;

  /** The next trade of the chain. */
  add(trade: SummedTrade): void {
    addToSums(this.sums, trade);
    if (trade.isBuy) {
      this.position += trade.amount;
      this.cost += trade.quoteAmount;
    } else this.sell(trade.amount, trade.quoteAmount);
  }

  private sell(sold: bigint, brought: bigint): void {
    const matched = sold < this.position ? sold : this.position;
    const cost = portion(this.cost, matched, this.position);
    const broughtByMatched = portion(brought, matched, sold);
    this.realizedProfit += broughtByMatched - cost;
    this.soldWithoutCost += sold - matched;
    this.receivedWithoutCost += brought - broughtByMatched;
    this.position -= matched;
    this.cost -= cost;
  }
}

type LedgerResult = Pick<ProfitLedger, 'realizedProfit' | 'receivedWithoutCost'> & { sums: TradeSums };

/** The totals of a wallet over tokens with one quote. */
export function profitTotals(ledgers: Iterable<LedgerResult>) {
  const totals = { realizedProfit: 0n, spent: 0n, received: 0n, tokens: 0, wins: 0, losses: 0 };
  let withoutCost = 0n;
  for (const { sums, realizedProfit, receivedWithoutCost } of ledgers) {
    totals.realizedProfit += realizedProfit;
    totals.spent += sums.spent;
    totals.received += sums.received;
    totals.tokens++;
    withoutCost += receivedWithoutCost;
    if (matchedAmount(sums) === 0n) continue;
    if (realizedProfit > 0n) totals.wins++;
    if (realizedProfit < 0n) totals.losses++;
  }
  return {
    ...totals,
    winRate: shareOf(BigInt(totals.wins), BigInt(totals.wins + totals.losses)),
    unmatchedShare: shareOf(withoutCost, totals.received),
  };
}

/** A part of a whole as a number from 0 to 1, cut after 12 digits; null where the whole is 0. */
export function shareOf(part: bigint, whole: bigint): number | null {
  return whole === 0n ? null : share(part, whole, 12);
}
