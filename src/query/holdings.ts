/**
 * Balances: the largest of a token, and the tokens of a wallet. No index leads from a wallet to its tokens, so they
 * come from its history, newest first.
 */

import { ZERO_BALANCE } from '../lib/signed.ts';
import { isNativeKind } from '../model/transfer-kind.ts';
import type { Db } from '../store/open-database.ts';
import { idList } from '../store/read/id-list.ts';
import { ZERO_WALLET } from '../store/schema.ts';
import { LARGE_TOKEN_WALLETS, PEAK_SPAN } from '../store/tokens/holding-peaks.ts';
import { HistoryFlag } from '../store/wallet-history.ts';
import type { IdRange } from './blocks.ts';
import { type EarlierHoldings, holdingAt } from './holdings-at.ts';
import { LISTED_TOKEN_COLUMNS, type ListedToken } from './tokens.ts';
import { prepareHistoryPages } from './wallet-history-pages.ts';
import type { WorkBudget } from './work-budget.ts';

export interface Holding {
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
 * A large token has peaks (store/tokens/holding-peaks.ts). Its `limit` largest holdings are in the `limit` spans with
 * the largest peaks, because each of those spans has at least one; the lowest of these peaks bounds what is read of a
 * span. After a position, these are the spans with lower peaks; those with higher peaks, read on earlier pages, may
 * have more.
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

/** A token, with the wallet's transfers of it. */
interface WalletToken extends Omit<ListedToken, 'transfers'> {
  /** transfers.id of the wallet's last transfer of the token. */
  lastTransfer: number;
  /** Sum of the wallet's transfers of the token, in the form of lib/signed.ts. */
  balance: Buffer;
  /** The wallet's transfers of the token. */
  ownTransfers: number;
  /** BalanceAccuracy, null while not examined. */
  accuracy: number | null;
}

/** The range is of transfers.id: only tokens whose last transfer is in it. */
interface WalletTokenFilter extends IdRange {
  /** tokens.id; undefined for all. */
  token?: number | undefined;
  /** Undefined for the holdings of now. */
  at?: EarlierHoldings | undefined;
  /** Whether a balance qualifies. */
  isWanted: (balance: Buffer) => boolean;
  limit: number;
}

interface TransferOfToken {
  token: number;
  lastTransfer: number;
}

/**
 * The wanted tokens of a wallet, now or `at` an earlier block, most recently moved first. A page reads the history from
 * its newest entry to the last transfer of the page's last token, or until all tokens of the wallet have occurred.
 */
export function prepareWalletTokens(
  db: Db,
): (wallet: number, filter: WalletTokenFilter, budget: WorkBudget) => WalletToken[] {
  const readPages = prepareHistoryPages(db);
  const tokenCount = db.prepare<[number], number>('SELECT tokens FROM wallets WHERE id = +?').pluck();
  const tokensOf = db.prepare<[string], TransferOfToken>(/* sql */ `
    SELECT t.id AS lastTransfer, t.token FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value`);
  const holdingsOf = db.prepare<[string, number], Omit<WalletToken, 'lastTransfer'>>(/* sql */ `
    SELECT ${LISTED_TOKEN_COLUMNS}, h.balance, h.transfers AS ownTransfers, q.quality AS accuracy
    FROM json_each(?) list CROSS JOIN tokens t ON t.id = list.value
      CROSS JOIN holdings h ON h.token = t.id AND h.wallet = +?
      CROSS JOIN wallets w ON w.id = t.wallet
      LEFT JOIN token_metadata m ON m.address = w.address
      LEFT JOIN token_quality q ON q.token = t.id`);

  return (wallet, { from, below, token: only, at, isWanted, limit }, budget) => {
    const found: WalletToken[] = [];
    if (only !== undefined) {
      const [row] = holdingsOf.all(idList([only]), wallet);
      if (row === undefined || holdingAt(row, at?.changes.get(only)).ownTransfers === 0) return found;
    }
    /** The wallet's last transfer of each token. */
    const seen = new Map<number, number>();
    const count = (tokenCount.get(wallet) ?? 0) - (at?.unseen ?? 0);
    const newest = at?.below ?? Number.MAX_SAFE_INTEGER;
    for (const page of readPages(wallet, { from, below: newest }, budget)) {
      const ids: number[] = [];
      while (page.next() && page.transfer < newest)
        if (!isNativeKind(page.flags & HistoryFlag.kindMask)) ids.push(page.transfer);
      budget.spend(2 * ids.length);
      const moved: number[] = [];
      for (const { token, lastTransfer } of tokensOf.all(idList(ids.reverse()))) {
        if (seen.has(token)) continue;
        seen.set(token, lastTransfer);
        const isListed = from <= lastTransfer && lastTransfer < below && (only ?? token) === token;
        if (isListed) moved.push(token);
      }
      const held = moved.length === 0 ? [] : holdingsOf.all(idList(moved), wallet);
      budget.spend(4 * held.length);
      for (const now of held) {
        const holding = holdingAt(now, at?.changes.get(now.id));
        if (isWanted(holding.balance)) found.push({ ...holding, lastTransfer: seen.get(holding.id)! });
      }
      if (found.length >= limit || seen.size >= count || (only !== undefined && seen.has(only))) break;
    }
    return found.slice(0, limit);
  };
}
