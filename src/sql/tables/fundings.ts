/** The tables of single transfers that the index has lists of: first fundings, and first receivers of tokens. */
import { TRANSFERS as EXPORTED } from '../../export/block-tables.ts';
import { prepareBuyersOf } from '../../store/tokens/first-buyers.ts';
import { type Arguments, addressesIn } from './arguments.ts';
import type { IndexReads } from './index-reads.ts';
import { type Cell, type Portion, portionOf, sqlColumns } from './rows.ts';
import { READS, type SqlColumn } from './shape.ts';
import type { RowUse, SqlTable } from './table.ts';
import { transferValues } from './transfers.ts';

const PORTION = 1_024;

/** The columns of a transfer under other names, in this order. */
function columnsAs(names: Readonly<Record<string, string>>): SqlColumn[] {
  const files = Object.entries(names).flatMap(([name, column]) => {
    const found = EXPORTED.columns.find((exported) => exported.name === column);
    return found === undefined ? [] : [{ ...found, name }];
  });
  return sqlColumns(files, ['amount']);
}

const FUNDING_NAMES: Readonly<Record<string, string>> = {
  wallet_address: 'to_address',
  funder_address: 'from_address',
  block_number: 'block_number',
  block_timestamp: 'block_timestamp',
  tx_hash: 'tx_hash',
  transfer_type: 'transfer_type',
  amount: 'amount',
  transfer_id: 'id',
};
const FUNDING_COLUMNS = columnsAs(FUNDING_NAMES);

export const FUNDINGS: SqlTable = {
  shape: {
    name: 'fundings',
    description: 'the first native transfer that each address got from another, and its sender',
    columns: FUNDING_COLUMNS,
    indexed: {
      wallet_address: { ops: ['eq', 'in'], reads: READS.row },
      funder_address: { ops: ['eq', 'in'], reads: READS.history },
    },
    ordered: [],
    unique: null,
    scanCost: 85,
  },
  estimate: ({ lastWallet }) => lastWallet,
  prepare(reads) {
    const idsOf = prepareFundingIds(reads);
    return function* (args, use) {
      for (const ids of idsOf(args)) {
        const rows = reads.transfers.byId(ids);
        const valuesOf = transferValues(reads, rows, use);
        yield portionOf(rows.length, FUNDING_COLUMNS, use.columns, (name) =>
          valuesOf(FUNDING_NAMES[name] ?? name),
        );
      }
    };
  },
};

/** Ids of first fundings, ascending within a portion. */
function prepareFundingIds({ db, walletIdOf }: IndexReads): (args: Arguments) => Iterable<number[]> {
  const ofWallet = db.prepare<[number], number | null>('SELECT funding FROM wallets WHERE id = +?').pluck();
  const ofFunder = db
    .prepare<[number, number, number], number>(
      'SELECT funding FROM fundings WHERE funder = +? AND funding > +? ORDER BY funding LIMIT +?',
    )
    .pluck();
  const after = db.prepare<[number, number], { id: number; funding: number }>(
    'SELECT id, funding FROM wallets WHERE id > +? AND funder IS NOT NULL ORDER BY id LIMIT +?',
  );
  return function* (args) {
    const wallets = addressesIn(args, 'wallet_address');
    const funders = addressesIn(args, 'funder_address');
    if (wallets !== undefined) {
      const ids = wallets.flatMap((address) => ofWallet.get(walletIdOf(address) ?? -1) ?? []);
      if (ids.length > 0) yield ids.sort((a, b) => a - b);
      return;
    }
    for (const funder of funders?.map(walletIdOf) ?? []) {
      if (funder === undefined) continue;
      for (
        let ids = ofFunder.all(funder, 0, PORTION);
        ids.length > 0;
        ids = ofFunder.all(funder, ids.at(-1)!, PORTION)
      )
        yield ids;
    }
    if (funders !== undefined) return;
    for (let rows = after.all(-1, PORTION); rows.length > 0; rows = after.all(rows.at(-1)!.id, PORTION))
      yield rows.map(({ funding }) => funding).sort((a, b) => a - b);
  };
}

const BUYER_NAMES: Readonly<Record<string, string>> = {
  block_number: 'block_number',
  block_timestamp: 'block_timestamp',
  tx_hash: 'tx_hash',
  amount: 'amount',
  transfer_id: 'id',
};
const BUYER_COLUMNS: readonly SqlColumn[] = [
  { name: 'token_address', type: 'text' },
  { name: 'rank', type: 'integer' },
  { name: 'buyer_address', type: 'text' },
  ...columnsAs(BUYER_NAMES),
];

export const FIRST_BUYERS: SqlTable = {
  shape: {
    name: 'first_buyers',
    description:
      'the first receivers of each token, at most 200 a token, with the transfer that made each a holder',
    columns: BUYER_COLUMNS,
    indexed: { token_address: { ops: ['eq', 'in'], reads: READS.history } },
    ordered: [],
    unique: null,
    scanCost: 20,
  },
  estimate: (_, { db }) =>
    db.prepare<[], number>('SELECT ifnull(sum(buyers), 0) FROM tokens').pluck().get() ?? 0,
  prepare(reads) {
    const buyersOf = prepareBuyersOf(reads.db);
    return function* (args, use) {
      const wanted = addressesIn(args, 'token_address')?.map(reads.tokenIdOf);
      for (const token of wanted ?? everyToken(reads.tokenCount()))
        if (token !== undefined) yield buyerRows(reads, token, buyersOf(token), use);
    };
  },
};

function* everyToken(count: number): Generator<number, void, void> {
  for (let token = 1; token <= count; token++) yield token;
}

function buyerRows(
  reads: IndexReads,
  token: number,
  buyers: readonly { transfer: number; wallet: number }[],
  use: RowUse,
): Portion {
  const { book } = reads;
  book.wallets.load(buyers.map(({ wallet }) => wallet));
  const own: Record<string, Cell[]> = {
    token_address: buyers.map(() => book.tokens.read(token)),
    rank: buyers.map((_, i) => BigInt(i + 1)),
    buyer_address: buyers.map(({ wallet }) => book.wallets.of(wallet)),
  };
  const rows = reads.transfers.byId(buyers.map(({ transfer }) => transfer));
  const valuesOf = transferValues(reads, rows, use);
  const both = (name: string) => own[name] ?? valuesOf(BUYER_NAMES[name] ?? name);
  return portionOf(buyers.length, BUYER_COLUMNS, use.columns, both);
}
