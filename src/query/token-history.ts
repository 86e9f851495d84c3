/** Reads a token's transfers from its history (store/tokens/token-history.ts), newest first. */

import { TransferKind, type ViewKind } from '../model/transfer-kind.ts';
import { prepareDerivedEnd } from '../store/derived.ts';
import type { DerivedName } from '../store/derived-structure.ts';
import type { Db } from '../store/open-database.ts';
import { PageCursor } from '../store/paged-history.ts';
import { idList } from '../store/read/id-list.ts';
import { TOKEN_HISTORY } from '../store/tokens/token-history.ts';
import { HistoryFlag } from '../store/wallet-history.ts';
import { type HistoryList, listNewest, listPieces, preparePages } from './history-pages.ts';
import { PAGE_STRETCHES } from './reach.ts';
import { prepareSharedTransfers } from './shared-transfers.ts';
import { type HistoryEnd, listEnd } from './wallet-history-reading.ts';
import type { WorkBudget } from './work-budget.ts';

/** Where a structure ends that an index of an earlier release gets while it is served. */
export interface DerivedBlock {
  /** The last block whose transfers are all in it; null before the first one. */
  block: number | null;
  /** transfers.id of its last transfer, or of an earlier block's. */
  lastTransfer: number;
}

export function prepareDerivedBlock(db: Db): (name: DerivedName) => DerivedBlock {
  const endOf = prepareDerivedEnd(db);
  const blockUpTo = db
    .prepare<[number], [number: number, lastTransfer: number]>(/* sql */ `
      SELECT number, last_transfer FROM blocks WHERE last_transfer <= +?
      ORDER BY last_transfer DESC, number DESC LIMIT 1`)
    .raw();
  return (name) => {
    const [block = null, lastTransfer = 0] = blockUpTo.get(endOf(name)) ?? [];
    return { block, lastTransfer };
  };
}

/** Where the histories of tokens end. */
export function prepareTokenHistoryEnd(db: Db): () => DerivedBlock {
  const blockOf = prepareDerivedBlock(db);
  return () => blockOf('token_history');
}

/** Selects transfers of a token. */
export interface TokenHistoryFilter extends HistoryList {
  /** A bit `1 << kind` for each wanted kind; undefined for all. */
  kinds?: number | undefined;
  /** wallets.id of either side. */
  wallet?: number | undefined;
  /** Only at least this amount, as shortest big-endian bytes. */
  minAmount?: Uint8Array | undefined;
  /** Only this token number, as shortest big-endian bytes. */
  tokenNumber?: Uint8Array | undefined;
  /** The token's: an NFT that logs as an ERC-20 has its number there as the amount. */
  viewKind?: ViewKind | undefined;
  /** Most stretches of the chain (Reach) of which rows are read. */
  stretches?: number | undefined;
}

/**
 * SQL: the number that is shown of `transfers t`, null without one (`tokenIdOf`). Has two parameters: the view kind.
 */
const SHOWN_NUMBER = /* sql */ `CASE t.kind
  WHEN ${TransferKind.erc20} THEN iif(+? IS ${TransferKind.erc721}, t.amount, NULL)
  WHEN ${TransferKind.erc721} THEN iif(+? IS ${TransferKind.erc20}, NULL, t.token_number)
  ELSE t.token_number END`;

type MatchingParameters = [
  list: string,
  kinds: number,
  minAmount: Uint8Array,
  minAmount: Uint8Array,
  tokenNumber: Uint8Array | null,
  tokenNumber: Uint8Array | null,
  viewKind: ViewKind,
  viewKind: ViewKind,
];

/** The ids of a token's newest transfers that pass the filter, newest first. */
export function prepareTokenHistoryIds(
  db: Db,
): (token: number, filter: TokenHistoryFilter, budget: WorkBudget) => ReturnType<typeof listNewest> {
  const readPages = preparePages(TOKEN_HISTORY, new PageCursor(), db);
  const sharedTransfers = prepareSharedTransfers(db);
  const keepMatching = prepareMatching(db);
  /** The ids of one page, then those that match, oldest first. */
  const matches = new Float64Array(TOKEN_HISTORY.entriesPerPage);
  const collect = (page: PageCursor, { from, below }: TokenHistoryFilter): number => {
    let count = 0;
    while (page.next() && page.transfer < below) if (page.transfer >= from) matches[count++] = page.transfer;
    return count;
  };
  function* sharedMatches(
    wallet: number,
    token: number,
    filter: TokenHistoryFilter,
    end: HistoryEnd,
    budget: WorkBudget,
  ) {
    const entries = { ...filter, direction: HistoryFlag.in | HistoryFlag.out, kinds: ALL };
    for (const ids of sharedTransfers(wallet, token, entries, end, budget))
      yield keepMatching(ids, filter, end, budget);
  }
  return (token, filter, budget) => {
    const end = listEnd(filter.stretches ?? PAGE_STRETCHES);
    if (filter.wallet !== undefined)
      return listPieces(sharedMatches(filter.wallet, token, filter, end, budget), filter.limit, end);
    if (isPlain(filter))
      return listNewest(readPages(token, filter, budget), TOKEN_HISTORY, filter, matches, (page) =>
        collect(page, filter),
      );
    const keep = (page: PageCursor): number => {
      const kept = keepMatching([...matches.subarray(0, collect(page, filter))], filter, end, budget);
      matches.set(kept);
      return kept.length;
    };
    return listNewest(readPages(token, filter, budget), TOKEN_HISTORY, filter, matches, keep, end);
  };
}

/** Whether no row is needed to tell which transfers pass. */
function isPlain({ kinds, minAmount, tokenNumber }: TokenHistoryFilter): boolean {
  return kinds === undefined && minAmount === undefined && tokenNumber === undefined;
}

/** Those of a token's transfers, oldest first, that pass a filter by their rows, as far as they are in reach. */
function prepareMatching(
  db: Db,
): (
  ids: readonly number[],
  filter: TokenHistoryFilter,
  end: HistoryEnd,
  budget: WorkBudget,
) => readonly number[] {
  // An ERC-721 transfer has no amount and counts as 1. Shortest bytes are in order by their length, then by themselves.
  const matching = db
    .prepare<MatchingParameters, number>(/* sql */ `
      SELECT t.id FROM json_each(?) list CROSS JOIN transfers t ON t.id = list.value
      WHERE (+? >> t.kind) & 1 AND (length(ifnull(t.amount, x'01')), ifnull(t.amount, x'01')) >= (length(+?), +?)
        AND (+? IS NULL OR +? = ${SHOWN_NUMBER})`)
    .pluck();
  return (ids, filter, end, budget) => {
    const { kinds = ALL, minAmount = NOTHING, tokenNumber = null, viewKind = null } = filter;
    if (isPlain(filter) || ids.length === 0) return ids;
    const first = end.within(ids);
    const near = ids.filter((id) => id >= first);
    budget.spend(2 * near.length);
    const number = [tokenNumber, tokenNumber, viewKind, viewKind] as const;
    return matching.all(idList(near), kinds, minAmount, minAmount, ...number);
  };
}

const ALL = 0xff;
const NOTHING = new Uint8Array(0);
