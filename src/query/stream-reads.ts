/** All reads of the index by streams, prepared once. */
import { markOfBlock } from '../model/rewrites.ts';
import type { ConfiguredTradeLists } from '../model/trade-rules.ts';
import { prepareIsGap } from '../store/block-gaps.ts';
import { chainOf, prepareLastBlock } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { prepareTransferParties, prepareTransfers } from '../store/read/transfers.ts';
import { HistoryCursor, WALLET_HISTORY } from '../store/wallet-history.ts';
import { prepareBlockBefore, prepareLastIdsAt, prepareLastIdsUpTo } from './blocks.ts';
import { prepareEventReader } from './events.ts';
import { prepareOpenPage } from './history-pages.ts';
import type { Snapshot } from './snapshot.ts';
import { prepareStoredParties } from './stored-parties.ts';
import { prepareTokenStart, prepareTokenSymbols } from './tokens.ts';
import { prepareTradeIds, prepareTradeRules } from './trade-ids.ts';
import { WalletIdCache } from './wallet-id-cache.ts';
import { prepareFirstTransferByAddress, prepareWalletIdByAddress } from './wallets.ts';

/** Finished pages read at a time. */
const PAGES_PER_READ = 4;

/** Some of a wallet's transfers, oldest first: all from where it was read below `next`. */
interface HistoryPiece {
  ids: number[];
  next: number;
}

/**
 * Reads a wallet's next transfers: ids `from <= id < below` of a few pages. At the end of the history, `next` is
 * `below`; else there is at least one id.
 */
export function prepareWalletHistory(db: Db): (wallet: number, from: number, below: number) => HistoryPiece {
  const pagesFrom = db
    .prepare<[number, number, number, number], Buffer>(/* sql */ `
      SELECT entries FROM activity WHERE wallet = +? AND first_transfer >= coalesce(
        (SELECT first_transfer FROM activity WHERE wallet = +? AND first_transfer <= +?
          ORDER BY first_transfer DESC LIMIT 1), 0)
      ORDER BY first_transfer LIMIT +?`)
    .pluck();
  const openPageOf = prepareOpenPage(WALLET_HISTORY, db);
  const cursor = new HistoryCursor();

  /** Returns whether all of the page is below the limit. */
  const collect = (ids: number[], from: number, below: number): boolean => {
    while (cursor.next()) {
      if (cursor.transfer >= below) return false;
      if (cursor.transfer >= from) ids.push(cursor.transfer);
    }
    return true;
  };

  return (wallet, from, below) => {
    const ids: number[] = [];
    const found = openPageOf(wallet);
    if (found === undefined) return { ids, next: below };
    const { recent, base } = found;
    const pages = pagesFrom.all(wallet, wallet, from, PAGES_PER_READ);
    for (const page of pages) {
      cursor.open(page, base);
      if (!collect(ids, from, below)) return { ids, next: below };
    }
    // The open page follows the last finished one.
    const last = ids.at(-1);
    if (pages.length === PAGES_PER_READ && last !== undefined) return { ids, next: last + 1 };
    cursor.open(recent, base);
    collect(ids, from, below);
    return { ids, next: below };
  };
}

/** A transfer in ids of wallets. */
export type { TransferParties } from '../store/read/transfers.ts';

export type StreamReads = ReturnType<typeof prepareStreamReads>;

/**
 * `snapshot` must belong to the same connection: all reads of one turn see one commit. `tradeLists`: what the
 * configuration adds to the lists of trades.
 */
export function prepareStreamReads(db: Db, snapshot: Snapshot, tradeLists: ConfiguredTradeLists = {}) {
  const idOf = prepareWalletIdByAddress(db);
  const firstTransferOf = prepareFirstTransferByAddress(db);
  const events = prepareEventReader(db);
  const transfers = prepareTransfers(db);
  const tradeIdsAt = prepareTradeIds(db, new WalletIdCache(db, snapshot), tradeLists);
  const tradeRulesAt = prepareTradeRules(db, tradeLists);
  const storedParties = prepareStoredParties(db);
  return {
    snapshot,
    /** The mark to name beside a block, null for one that was never rewritten. */
    markOf: (block: number) => markOfBlock(snapshot.rewrites, block),
    lastIdsAt: prepareLastIdsAt(db),
    lastIdsUpTo: prepareLastIdsUpTo(db),
    blockBefore: prepareBlockBefore(db),
    lastBlock: prepareLastBlock(db),
    /** The id of the indexed chain; undefined before indexing begins. */
    chainId: () => chainOf(db)?.chainId,
    scan: prepareTransferParties(db),
    walletsAfter: prepareWalletsAfter(db),
    events: events.byId,
    eventsWithTransactions: events.withTransactions,
    tokenSymbols: prepareTokenSymbols(db),
    tokenStart: prepareTokenStart(db),
    /** The lists that trades are told by, in ids; null while the index is empty. */
    tradeIds() {
      const head = snapshot.head();
      return head === null ? null : tradeIdsAt(head);
    },
    /** The same by address. */
    tradeRules: () => tradeRulesAt(snapshot.head()),
    transactionStart: transfers.transaction,
    transactionRows: transfers.byId,
    contractOf: events.contractOf,
    walletAddress: events.walletAddress,
    isGap: prepareIsGap(db),
    storedParties: () => storedParties(events),
    /** The first transfer of an address of 40 hex digits without prefix. */
    firstTransferOf: (address: string) => firstTransferOf(`0x${address}`),
    invalidateWalletsAbove: events.invalidateWalletsAbove,
    history: prepareWalletHistory(db),
    /** The wallet id of an address of 40 hex digits without prefix. */
    walletId: (address: string) => idOf(`0x${address}`),
  };
}

/** A wallet and its address, hex digits without prefix. */
export interface NewWallet {
  id: number;
  address: string;
}

/** The wallets with ids above `after` and up to `last`, at most `limit`, in order. */
function prepareWalletsAfter(db: Db): (after: number, last: number, limit: number) => NewWallet[] {
  const statement = db.prepare<[number, number, number], NewWallet>(/* sql */ `
    SELECT id, lower(hex(address)) AS address FROM wallets WHERE id > +? AND id <= +? ORDER BY id LIMIT +?`);
  return (after, last, limit) => statement.all(after, last, limit);
}
