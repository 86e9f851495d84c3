/** The tables that commits and rollbacks change, each with its prepared statements. */
import { AddressTable } from '../addresses.ts';
import { BlockGapTable } from '../block-gaps.ts';
import { TimeFallTable } from '../block-times.ts';
import { AnchorTable } from '../chain-anchors.ts';
import { CounterpartySumsTable } from '../counterparty-sums.ts';
import { DerivedTables } from '../derived.ts';
import type { Db, Statement } from '../open-database.ts';
import { RewriteTable } from '../rewrites.ts';
import { RowWriter } from '../rows.ts';
import { SkippedLogTable } from '../skipped-logs.ts';
import { FirstBuyerTable } from '../tokens/first-buyers.ts';
import { ZoneMapTable } from '../zone-map.ts';
import { CommitWallets } from './commit-wallets.ts';
import { TokenTable } from './token-state.ts';
import { WalletTable } from './wallet-table.ts';

/** The first funding of a wallet: a row of `fundings`. */
export interface Funding {
  funder: number;
  funding: number;
}

/** The statements on `fundings` that a commit needs. */
class FundingTable {
  private readonly inserts: RowWriter;
  private readonly deleteFunding: Statement;

  constructor(db: Db) {
    this.inserts = new RowWriter(db, 'INSERT INTO fundings (funder, funding) VALUES (?, ?)');
    this.deleteFunding = db.prepare('DELETE FROM fundings WHERE funder = ? AND funding = ?');
  }

  /** Deletes `gone` and inserts `added`, both in key order. */
  applyChanges(gone: Funding[], added: Funding[]): void {
    for (const { funder, funding } of gone.sort(byKey)) this.deleteFunding.run(funder, funding);
    this.inserts.reset();
    for (const { funder, funding } of added.sort(byKey)) this.inserts.add(funder, funding);
    this.inserts.flush();
  }
}

function byKey(a: Funding, b: Funding): number {
  return a.funder - b.funder || a.funding - b.funding;
}

export class Tables {
  /** The wallets of the commit in progress. */
  readonly commitWallets = new CommitWallets();
  readonly wallets: WalletTable;
  readonly addresses: AddressTable;
  readonly fundings: FundingTable;
  readonly tokens: TokenTable;
  readonly firstBuyers: FirstBuyerTable;
  readonly zoneMap: ZoneMapTable;
  readonly timeFalls: TimeFallTable;
  readonly blockGaps: BlockGapTable;
  readonly skippedLogs: SkippedLogTable;
  readonly anchors: AnchorTable;
  readonly rewrites: RewriteTable;
  readonly counterpartySums: CounterpartySumsTable;
  readonly derived: DerivedTables;

  constructor(db: Db, pagesPerFold?: number) {
    this.wallets = new WalletTable(db);
    this.addresses = new AddressTable(db);
    this.fundings = new FundingTable(db);
    this.tokens = new TokenTable(db);
    this.firstBuyers = new FirstBuyerTable(db);
    this.zoneMap = new ZoneMapTable(db);
    this.timeFalls = new TimeFallTable(db);
    this.blockGaps = new BlockGapTable(db);
    this.skippedLogs = new SkippedLogTable(db);
    this.anchors = new AnchorTable(db);
    this.rewrites = new RewriteTable(db);
    this.counterpartySums = new CounterpartySumsTable(db, pagesPerFold);
    this.derived = new DerivedTables(db);
  }
}
