/** The supply of a token by its transfers, and how much of it its largest holders have. */
import { decodeSigned } from '../lib/signed.ts';
import { share } from '../lib/units.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { LARGE_TOKEN_WALLETS } from '../store/tokens/holding-peaks.ts';
import { prepareTopHoldings } from './holdings.ts';
import type { WorkBudget } from './work-budget.ts';

/**
 * What a token has minted and not burned, in base units: the zero address gave it. Null where that is not above zero:
 * its first holders got it before the index began, or without a transfer.
 */
export function prepareSupply(db: Db): (token: number) => bigint | null {
  const balance = db
    .prepare<[number], Buffer>(`SELECT balance FROM holdings WHERE token = +? AND wallet = ${ZERO_WALLET}`)
    .pluck();
  return (token) => {
    const found = balance.get(token);
    const supply = found === undefined ? 0n : -decodeSigned(found);
    return supply > 0n ? supply : null;
  };
}

/** Spans of a large token whose largest holders are added up. The oldest wallets, pools and exchanges, are in them. */
const MOST_SPANS = 1_000;

/**
 * What the shares of single holders are of: the supply. Null where the largest holders have more, of tokens that are
 * older than the index or grow without transfers: the shares would add up to more than 1. For a large token the largest
 * holder of each span stands in, since there are a few pages of them.
 */
export function prepareShareSupply(db: Db): (token: number, budget: WorkBudget) => bigint | null {
  const supplyOf = prepareSupply(db);
  const largest = prepareTopHoldings(db);
  const walletsOf = db.prepare<[number], number>('SELECT wallets FROM tokens WHERE id = +?').pluck();
  const peaksOf = db
    .prepare<[number, number], Buffer>(
      'SELECT peak FROM holding_peaks WHERE token = +? ORDER BY span LIMIT +?',
    )
    .pluck();
  return (token, budget) => {
    const supply = supplyOf(token);
    if (supply === null) return null;
    const wallets = walletsOf.get(token) ?? 0;
    const isLarge = wallets > LARGE_TOKEN_WALLETS;
    if (isLarge) budget.spend(MOST_SPANS);
    const balances = isLarge
      ? peaksOf.all(token, MOST_SPANS)
      : largest({ id: token, wallets }, MOST_HOLDERS, budget).map(({ balance }) => balance);
    const held = balances.reduce((sum, balance) => sum + decodeSigned(balance), 0n);
    return held > supply ? null : supply;
  };
}

/** Holders of a large token that are read: each is in a span of its own at worst (query/holdings.ts). */
export const MOST_HOLDERS = 100;

/** Places of the shares in a concentration. */
const PLACES = [1, 10, 50, 100] as const;

export interface Concentration {
  top1: number;
  top10: number;
  top50: number;
  top100: number;
  /** The fewest holders that have half of it; null if a large token needs more than MOST_HOLDERS. */
  holdersForHalf: number | null;
}

/**
 * The shares of the largest holders in the supply of all holders but `excluded`, wallet ids. Null where the supply is
 * unknown, or less than what the holders have.
 */
export function prepareConcentration(
  db: Db,
  largest: ReturnType<typeof prepareTopHoldings>,
): (
  token: { id: number; wallets: number },
  supply: bigint | null,
  excluded: ReadonlySet<number>,
  budget: WorkBudget,
) => Concentration | null {
  const balances = db
    .prepare<[string, number], Buffer>(/* sql */ `
      SELECT h.balance FROM json_each(?) list CROSS JOIN holdings h ON h.token = +? AND h.wallet = list.value`)
    .pluck();
  return (token, supply, excluded, budget) => {
    if (supply === null) return null;
    let total = supply;
    for (const balance of balances.all(idList([...excluded]), token.id).map(decodeSigned))
      if (balance > 0n) total -= balance;
    if (total <= 0n) return null;
    const read = token.wallets > LARGE_TOKEN_WALLETS ? MOST_HOLDERS : token.wallets;
    const found = largest(token, read + excluded.size, budget).filter(({ wallet }) => !excluded.has(wallet));
    budget.spend(found.length);
    const tops: number[] = [];
    let sum = 0n;
    let holdersForHalf: number | null = null;
    for (const [i, { balance }] of found.entries()) {
      sum += decodeSigned(balance);
      if (i + 1 === PLACES[tops.length]) tops.push(share(sum, total));
      if (2n * sum >= total) holdersForHalf ??= i + 1;
    }
    if (sum > total) return null;
    const [top1, top10, top50, top100] = PLACES.map((_, i) => tops[i] ?? share(sum, total));
    return { top1: top1!, top10: top10!, top50: top50!, top100: top100!, holdersForHalf };
  };
}
