/** Reads a token's transfers from its history (store/tokens/token-history.ts), newest first. */
import { prepareDerivedEnd } from '../store/derived.ts';
import type { Db } from '../store/open-database.ts';
import { PageCursor } from '../store/paged-history.ts';
import { idList } from '../store/read/id-list.ts';
import { TOKEN_HISTORY } from '../store/tokens/token-history.ts';
import { type HistoryList, listNewest, preparePages } from './history-pages.ts';
import type { WorkBudget } from './work-budget.ts';

/** Where the histories of tokens end. An index of an earlier release gets them while it is served. */
interface HistoryEnd {
  /** The last block whose transfers are all in the histories; null before the first one. */
  block: number | null;
  /** transfers.id of its last transfer, or of an earlier block's. */
  lastTransfer: number;
}

export function prepareTokenHistoryEnd(db: Db): () => HistoryEnd {
  const endOf = prepareDerivedEnd(db);
  const blockUpTo = db
    .prepare<[number], [number: number, lastTransfer: number]>(/* sql */ `
      SELECT number, last_transfer FROM blocks WHERE last_transfer <= +?
      ORDER BY last_transfer DESC, number DESC LIMIT 1`)
    .raw();
  return () => {
    const [block = null, lastTransfer = 0] = blockUpTo.get(endOf('token_history')) ?? [];
    return { block, lastTransfer };
  };
}

/** Selects transfers of a token. */
export interface TokenHistoryFilter extends HistoryList {
  /** A bit `1 << kind` for each wanted kind; undefined for all. */
  kinds?: number | undefined;
  /** wallets.id of either side. */
  wallet?: number | undefined;
  /** Only at least this amount, as shortest big-endian bytes. */
  minAmount?: Uint8Array | undefined;
}

/** The ids of a token's newest transfers that pass the filter, newest first. */
export function prepareTokenHistoryIds(
  db: Db,
): (token: number, filter: TokenHistoryFilter, budget: WorkBudget) => ReturnType<typeof listNewest> {
  const readPages = preparePages(TOKEN_HISTORY, new PageCursor(), db);
  /** The ids of one page, then those that match, oldest first. */
  const matches = new Float64Array(TOKEN_HISTORY.entriesPerPage);
  // An ERC-721 transfer has no amount and counts as 1. Shortest bytes are in order by their length, then by themselves.
  const matching = db
    .prepare<[string, number, number | null, number | null, Uint8Array, Uint8Array], number>(/* sql */ `
      SELECT t.id FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value
      WHERE (+? >> t.kind) & 1 AND (+? IS NULL OR +? IN (t.sender, t.receiver))
        AND (length(ifnull(t.amount, x'01')), ifnull(t.amount, x'01')) >= (length(+?), +?)`)
    .pluck();
  const collect = (page: PageCursor, { from, below }: TokenHistoryFilter): number => {
    let count = 0;
    while (page.next() && page.transfer < below) if (page.transfer >= from) matches[count++] = page.transfer;
    return count;
  };
  const keepMatching = (count: number, filter: TokenHistoryFilter, budget: WorkBudget): number => {
    const { kinds = ALL, wallet = null, minAmount = NOTHING } = filter;
    const isAll = kinds === ALL && wallet === null && minAmount.length === 0;
    if (isAll || count === 0) return count;
    budget.spend(2 * count);
    const list = idList([...matches.subarray(0, count)]);
    const kept = matching.all(list, kinds, wallet, wallet, minAmount, minAmount);
    matches.set(kept);
    return kept.length;
  };
  return (token, filter, budget) =>
    listNewest(readPages(token, filter, budget), TOKEN_HISTORY, filter, matches, (page) =>
      keepMatching(collect(page, filter), filter, budget),
    );
}

const ALL = 0xff;
const NOTHING = new Uint8Array(0);
