/** The tokens of a wallet. No index leads from a wallet to its tokens, so they come from its history, newest first. */
import { isNativeKind } from '../model/transfer-kind.ts';
import type { Db } from '../store/open-database.ts';
import { HistoryFlag } from '../store/wallet-history.ts';
import { LISTED_TOKEN_COLUMNS, type ListedToken } from './tokens.ts';
import { idList } from './transfers.ts';
import { prepareHistoryPages } from './wallet-history-pages.ts';
import type { WorkBudget } from './work-budget.ts';

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

interface WalletTokenFilter {
  /** Only tokens with a last transfer older than this transfers.id. */
  below: number;
  /** Whether a balance qualifies. */
  isWanted: (balance: Buffer) => boolean;
  limit: number;
}

interface TransferOfToken {
  token: number;
  lastTransfer: number;
}

/**
 * The wanted tokens of a wallet, most recently moved first. A page reads the history from its newest entry to the last
 * transfer of the page's last token, or until all tokens of the wallet have occurred.
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

  return (wallet, { below, isWanted, limit }, budget) => {
    const found: WalletToken[] = [];
    /** The wallet's last transfer of each token. */
    const seen = new Map<number, number>();
    const count = tokenCount.get(wallet) ?? 0;
    for (const page of readPages(wallet, { from: 1, below: Number.MAX_SAFE_INTEGER }, budget)) {
      const ids: number[] = [];
      while (page.next()) if (!isNativeKind(page.flags & HistoryFlag.kindMask)) ids.push(page.transfer);
      budget.spend(2 * ids.length);
      const moved: number[] = [];
      for (const { token, lastTransfer } of tokensOf.all(idList(ids.reverse()))) {
        if (seen.has(token)) continue;
        seen.set(token, lastTransfer);
        if (lastTransfer < below) moved.push(token);
      }
      const held = moved.length === 0 ? [] : holdingsOf.all(idList(moved), wallet);
      budget.spend(4 * held.length);
      for (const holding of held) {
        if (isWanted(holding.balance)) found.push({ ...holding, lastTransfer: seen.get(holding.id)! });
      }
      if (found.length >= limit || seen.size >= count) break;
    }
    return found.slice(0, limit);
  };
}
