/** The largest balances of a token. */
import { ZERO_BALANCE } from '../lib/signed.ts';
import { LARGE_TOKEN_WALLETS, PEAK_SPAN } from '../store/holding-peaks.ts';
import type { Db } from '../store/open-database.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import type { WorkBudget } from './work-budget.ts';

interface Holding {
  /** wallets.id. */
  wallet: number;
  /** In the form of lib/signed.ts; above zero. */
  balance: Buffer;
}

interface Peak {
  span: number;
  peak: Buffer;
}

/**
 * The holdings with the largest balances after a position, in descending order; of equal ones the wallet seen earlier
 * first. `wallets` is the number of wallets of the token. Excludes the zero address.
 *
 * A large token has peaks (store/holding-peaks.ts). Its `limit` largest holdings are in the `limit` spans with the
 * largest peaks, because each of those spans has at least one; the lowest of these peaks bounds what is read of a span.
 * After a position, these are the spans with lower peaks; those with higher peaks, read on earlier pages, may have
 * more.
 */
export function prepareTopHoldings(
  db: Db,
): (token: { id: number; wallets: number }, limit: number, budget: WorkBudget, after?: Holding) => Holding[] {
  const lastWallet = db.prepare<[], number>('SELECT max(id) FROM wallets').pluck();
  const peaksFrom = db.prepare<[number, Uint8Array], Peak>(
    'SELECT span, peak FROM holding_peaks WHERE token = +? AND peak >= +?',
  );
  const peaksBelow = db.prepare<[number, Uint8Array, number], Peak>(
    'SELECT span, peak FROM holding_peaks WHERE token = +? AND peak < +? ORDER BY peak DESC, span LIMIT +?',
  );
  const largestOf = db.prepare<
    [number, number, number, Uint8Array, Uint8Array, number, number],
    Holding
  >(/* sql */ `
    SELECT wallet, balance FROM holdings
    WHERE token = +? AND wallet >= +? AND wallet < +? AND balance >= +? AND (balance, -wallet) < (+?, -?)
    ORDER BY balance DESC, wallet LIMIT +?`);

  const topOfLarge = (
    token: { id: number; wallets: number },
    limit: number,
    budget: WorkBudget,
    after: Holding,
  ): Holding[] => {
    const spans = Math.ceil(((lastWallet.get() ?? ZERO_WALLET) + 1) / PEAK_SPAN);
    budget.spend(Math.min(spans, token.wallets));
    const holdingsPerSpan = Math.min(PEAK_SPAN, Math.ceil(token.wallets / spans));
    budget.ensure(limit * holdingsPerSpan);
    const lower = peaksBelow.all(token.id, after.balance, limit);
    const lowest = lower.length < limit ? ABOVE_ZERO : lower.at(-1)!.peak;
    const higher = after === FIRST_PLACE ? [] : peaksFrom.all(token.id, after.balance);
    const peaks = [...higher, ...lower];
    budget.ensure(peaks.length * holdingsPerSpan);
    const found: Holding[] = [];
    for (const { span } of peaks.sort((a, b) => a.span - b.span)) {
      budget.spend(holdingsPerSpan);
      const from = Math.max(span * PEAK_SPAN, ZERO_WALLET + 1);
      const below = (span + 1) * PEAK_SPAN;
      found.push(...largestOf.all(token.id, from, below, lowest, after.balance, after.wallet, limit));
    }
    return found.sort((x, y) => Buffer.compare(y.balance, x.balance) || x.wallet - y.wallet).slice(0, limit);
  };

  return (token, limit, budget, after = FIRST_PLACE) => {
    if (token.wallets > LARGE_TOKEN_WALLETS) return topOfLarge(token, limit, budget, after);
    budget.spend(token.wallets);
    const [from, below] = [ZERO_WALLET + 1, Number.MAX_SAFE_INTEGER];
    return largestOf.all(token.id, from, below, ABOVE_ZERO, after.balance, after.wallet, limit);
  };
}

/** The lowest encoding (lib/signed.ts) of a balance above zero. */
const ABOVE_ZERO = Uint8Array.of(ZERO_BALANCE[0]! + 1);

/** Sorts before every holding: no encoding of lib/signed.ts starts with this byte. */
const FIRST_PLACE: Holding = { balance: Buffer.of(0xff), wallet: 0 };
