/** The tables that are exported whole: tokens, wallets and holders. */
import type { Key, Page, SnapshotTable } from '../../export/snapshot-tables.ts';
import {
  HOLDERS as EXPORTED_HOLDERS,
  TOKENS as EXPORTED_TOKENS,
  WALLETS as EXPORTED_WALLETS,
} from '../../export/snapshot-tables.ts';
import { isPositive } from '../../lib/signed.ts';
import { prepareWalletTokens } from '../../query/holdings.ts';
import { highest } from '../../store/open-database.ts';
import { type Arguments, addressesIn, textsIn } from './arguments.ts';
import { type IndexReads, NO_BUDGET } from './index-reads.ts';
import { portionOf, sqlColumns } from './rows.ts';
import { READS, type SqlColumn, type TableShape } from './shape.ts';
import type { SqlTable } from './table.ts';

/** Rows of the first read of a query, and of each other one. */
const FIRST_ROWS = 64;
const MOST_ROWS = 4_096;

/** Rows kept of single lookups, for joins that look the same ones up again and again. */
const PAGES_KEPT = 4_096;

type ReadPage = (after: Key | undefined, limit: number) => Page;

/** The pages of the rows that the arguments allow. */
type Pages = (read: ReadPage, args: Arguments, reads: IndexReads) => Iterable<Page>;

function snapshot(
  exported: SnapshotTable,
  amounts: readonly string[],
  shape: Omit<TableShape, 'columns' | 'ordered' | 'unique'>,
  estimate: SqlTable['estimate'],
  preparePages: (reads: IndexReads) => Pages,
): SqlTable {
  const columns: readonly SqlColumn[] = sqlColumns(exported.columns, amounts);
  const positions = new Map(exported.columns.map(({ name }, at) => [name, at]));
  return {
    shape: { ...shape, columns, ordered: [], unique: null },
    estimate,
    prepare(reads) {
      const read = exported.pages(reads.db);
      const pages = preparePages(reads);
      return function* (args, use) {
        for (const { rowCount, values } of pages(read, args, reads))
          yield portionOf(rowCount, columns, use.columns, (name) => values[positions.get(name) ?? -1]);
      };
    },
  };
}

function* everyPage(read: ReadPage): Generator<Page, void, void> {
  let size = FIRST_ROWS;
  for (let page = read(undefined, size); page.rowCount > 0; page = read(page.keys.at(-1), size)) {
    yield page;
    size = MOST_ROWS;
  }
}

/** Looks up the row with a key of one id. */
function prepareById(): (read: ReadPage, id: number) => Page[] {
  const kept = new Map<number, Page>();
  return (read, id) => {
    let page = kept.get(id);
    if (page === undefined) {
      page = read([id - 1], 1);
      if (kept.size >= PAGES_KEPT) kept.clear();
      kept.set(id, page);
    }
    return page.keys[0]?.[0] === id ? [page] : [];
  };
}

export const TOKENS = snapshot(
  EXPORTED_TOKENS,
  [],
  {
    name: 'tokens',
    description: 'every token contract, with its name, decimals and counters',
    indexed: {
      token_address: { ops: ['eq', 'in'], reads: READS.row },
      symbol: { ops: ['eq', 'in'], reads: READS.history },
    },
    scanCost: 4,
  },
  (_, reads) => reads.tokenCount(),
  () => {
    const byId = prepareById();
    return function* (read, args, reads) {
      const addresses = addressesIn(args, 'token_address');
      const symbols = textsIn(args, 'symbol');
      const ids =
        addresses?.flatMap((address) => reads.tokenIdOf(address) ?? []) ??
        symbols?.flatMap(reads.tokenIdsOfSymbol);
      if (ids === undefined) yield* everyPage(read);
      else for (const id of ids) yield* byId(read, id);
    };
  },
);

export const WALLETS = snapshot(
  EXPORTED_WALLETS,
  ['native_received', 'native_sent'],
  {
    name: 'wallets',
    description: 'every address with transfers: counters, native sums, first funder',
    indexed: {
      address: { ops: ['eq', 'in'], reads: READS.row },
      first_funder: { ops: ['eq', 'in'], reads: READS.history },
    },
    scanCost: 80,
  },
  ({ lastWallet }) => lastWallet,
  (reads) => {
    const byId = prepareById();
    const fundedBy = prepareFundedBy(reads);
    return function* (read, args) {
      const addresses = addressesIn(args, 'address');
      const funders = addressesIn(args, 'first_funder');
      if (addresses !== undefined) {
        for (const id of addresses.map(reads.walletIdOf)) if (id !== undefined) yield* byId(read, id);
      } else if (funders !== undefined) {
        for (const funder of funders.map(reads.walletIdOf))
          if (funder !== undefined) for (const id of fundedBy(funder)) yield* byId(read, id);
      } else yield* everyPage(read);
    };
  },
);

/** The wallets whose first funding came from a wallet, in its order. */
function prepareFundedBy({ db }: IndexReads): (funder: number) => number[] {
  const statement = db
    .prepare<[number], number>(
      'SELECT t.receiver FROM fundings f CROSS JOIN transfers t ON t.id = f.funding WHERE f.funder = +?',
    )
    .pluck();
  return (funder) => statement.all(funder);
}

export const HOLDERS = snapshot(
  EXPORTED_HOLDERS,
  ['balance'],
  {
    name: 'holders',
    description: 'every positive balance, computed from transfers',
    indexed: {
      token_address: { ops: ['eq', 'in'], reads: READS.history },
      holder_address: { ops: ['eq', 'in'], reads: READS.history },
    },
    scanCost: 90,
  },
  (_, { db }) =>
    // The sum of a small table's counters; tokens without holders count as none.
    db.prepare<[], number>('SELECT ifnull(sum(holders), 0) FROM tokens').pluck().get() ??
    highest(db, 'tokens'),
  (reads) => {
    const tokensOf = prepareWalletTokens(reads.db);
    return function* (read, args) {
      const tokens = addressesIn(args, 'token_address')?.flatMap((address) => reads.tokenIdOf(address) ?? []);
      const wallets = addressesIn(args, 'holder_address')?.flatMap(
        (address) => reads.walletIdOf(address) ?? [],
      );
      if (wallets === undefined && tokens === undefined) yield* everyPage(read);
      else if (wallets === undefined) for (const token of tokens ?? []) yield* ofToken(read, token);
      else
        for (const wallet of wallets)
          for (const token of tokens ?? tokenIdsOf(wallet)) yield* holding(read, token, wallet);
    };

    function tokenIdsOf(wallet: number): number[] {
      const every = { from: 0, below: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER };
      return tokensOf(wallet, { ...every, isWanted: isPositive }, NO_BUDGET).map(({ id }) => id);
    }
  },
);

function* ofToken(read: ReadPage, token: number): Generator<Page, void, void> {
  let after: Key | undefined = [token, -1];
  for (let size = FIRST_ROWS; after !== undefined; size = MOST_ROWS) {
    const page: Page = read(after, size);
    const end = page.keys.findIndex(([of]) => of !== token);
    yield end < 0 ? page : { ...page, rowCount: end };
    after = end < 0 ? page.keys.at(-1) : undefined;
  }
}

function* holding(read: ReadPage, token: number, wallet: number): Generator<Page, void, void> {
  const page = read([token, wallet - 1], 1);
  if (page.keys[0]?.[0] === token && page.keys[0][1] === wallet) yield page;
}
