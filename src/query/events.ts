/** Transfers with all data of a notification. */
import { prepareGapsAmong } from '../store/block-gaps.ts';
import type { Tip } from '../store/chain.ts';
import type { Db } from '../store/open-database.ts';
import { AddressBook } from '../store/read/address-book.ts';
import { prepareBlocks } from '../store/read/blocks.ts';
import { idList } from '../store/read/id-list.ts';
import { prepareTransfers, type StoredTransfer } from '../store/read/transfers.ts';
import type { TokenDisplay } from './tokens.ts';
import type { TransferRow } from './transfers.ts';

export type EventRow = TransferRow;

/** The addresses of a transfer, 40 hex digits; `token` is empty for a native transfer. */
export type TransferAddresses = Pick<EventRow, 'from' | 'to' | 'token'>;

export interface EventReader {
  /** The transfers of a list of ids, in its order. */
  byId(ids: readonly number[]): EventRow[];
  /**
   * The same, with the transactions that contain them (see TransferReader.transactionsOf), in 0.6 of the time of two
   * reads.
   */
  withTransactions(ids: readonly number[]): { events: EventRow[]; transactions: StoredTransfer[] };
  /** The contract of a token by tokens.id, 40 hex digits. */
  contractOf(token: number): string;
  /** The address of a wallet by wallets.id, 40 hex digits. */
  walletAddress(wallet: number): string;
  /** Reads the addresses of wallets for `walletAddress` in one statement. */
  loadWallets(wallets: readonly number[]): void;
  /** Call after a rollback, before the next read: wallet ids above `last` and token ids are reassigned. */
  invalidateWalletsAbove(last: number): void;
}

/** Together about 1 MB. */
const WALLETS_KEPT = 8_192;
const TOKENS_KEPT = 2_048;

export function prepareEventReader(db: Db): EventReader {
  const book = new AddressBook(db, { wallets: WALLETS_KEPT, tokens: TOKENS_KEPT });
  const transfers = prepareTransfers(db);
  const blocks = prepareBlocks(db);
  const gapsAmong = prepareGapsAmong(db);
  const metadataOf = prepareTokenMetadata(db);
  const eventsOf = (rows: readonly StoredTransfer[]): EventRow[] => {
    book.load(rows);
    const metadata = metadataOf(rows);
    const blocksOfRows = blocks.of(rows.map(({ id }) => id));
    const gaps = gapsAmong(blocksOfRows.map((block) => block.number));
    return rows.map((row, i) => {
      const block = blocksOfRows[i]!;
      return eventOf(row, block, gaps.has(block.number), book, metadata.get(row.token) ?? NO_METADATA);
    });
  };
  return {
    byId: (ids) => eventsOf(transfers.byId(ids)),
    withTransactions(ids) {
      const transactions = transfers.transactionsOf(ids);
      const read = new Map<number, StoredTransfer>();
      for (const row of transactions) read.set(row.id, row);
      const others = ids.filter((id) => !read.has(id));
      if (others.length > 0) for (const row of transfers.byId(others)) read.set(row.id, row);
      const rows = ids.map((id) => read.get(id)).filter((row) => row !== undefined);
      return { events: eventsOf(rows), transactions };
    },
    contractOf: (token) => book.tokens.read(token),
    walletAddress: (wallet) => book.wallets.read(wallet),
    loadWallets: (wallets) => book.wallets.load(wallets),
    invalidateWalletsAbove: (last) => book.rollback(last),
  };
}

function eventOf(
  stored: StoredTransfer,
  block: Tip,
  isGap: boolean,
  { wallets, tokens }: AddressBook,
  { symbol, decimals, viewKind }: TokenDisplay,
): EventRow {
  return {
    ...stored,
    blockNumber: block.number,
    blockHash: block.hash.slice(2),
    timestamp: block.timestamp,
    uncertain: isGap ? 1 : 0,
    from: wallets.of(stored.sender),
    to: wallets.of(stored.receiver),
    token: stored.token === 0 ? '' : tokens.of(stored.token),
    symbol,
    decimals,
    viewKind,
  };
}

const NO_METADATA: TokenDisplay = { symbol: null, decimals: null, viewKind: null };

/** The metadata of these transfers' tokens by tokens.id, read each time: a contract may be called at any moment. */
function prepareTokenMetadata(
  db: Db,
): (rows: readonly StoredTransfer[]) => ReadonlyMap<number, TokenDisplay> {
  const statement = db.prepare<[string], TokenDisplay & { id: number }>(/* sql */ `
    SELECT k.id, m.symbol, m.decimals, m.view_kind AS viewKind FROM json_each(?) list CROSS JOIN tokens k
    ON k.id = list.value
      CROSS JOIN wallets w ON w.id = k.wallet CROSS JOIN token_metadata m ON m.address = w.address`);
  return (rows) => {
    const ids = new Set<number>();
    for (const { token } of rows) if (token !== 0) ids.add(token);
    const found = ids.size === 0 ? [] : statement.all(idList([...ids]));
    return new Map(found.map((row) => [row.id, row]));
  };
}
