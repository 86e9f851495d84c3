/** The rows one commit changes, loaded on first use and written back in key order at its end. */

import { type AddressRow, AddressTable, addressPrefix } from '../addresses.ts';
import { AnchorTable } from '../chain-anchors.ts';
import { CounterpartySumsTable } from '../counterparty-sums.ts';
import type { Db, Statement } from '../open-database.ts';
import { RowWriter } from '../row-writer.ts';
import { TraceGapTable } from '../trace-gaps.ts';
import { ZoneMap, ZoneMapTable } from '../zone-map.ts';
import { type TokenState, TokenTable } from './token-state.ts';
import type { FinishedPage, WalletState } from './wallet-state.ts';
import type { WalletStates } from './wallet-states.ts';
import { WalletTable } from './wallet-table.ts';

/** The first funding of a wallet. */
interface Funding {
  funder: number;
  funding: number;
}

/** A wallet that first appears in this commit. */
interface NewAddress {
  /** Its slot in WalletStates. */
  slot: number;
  /** Whether its key in `addresses` is the whole address because an earlier wallet took the prefix. */
  isWholeKey: boolean;
}

/** Rough heap size of a token with its list of first buyers, bytes. */
const TOKEN_BYTES = 1_000;

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

/** The prepared statements that all commits share. */
export class Tables {
  readonly wallets: WalletTable;
  readonly addresses: AddressTable;
  readonly fundings: FundingTable;
  readonly tokens: TokenTable;
  readonly zoneMap: ZoneMapTable;
  readonly traceGaps: TraceGapTable;
  readonly anchors: AnchorTable;
  readonly counterpartySums: CounterpartySumsTable;
  constructor(db: Db, pagesPerFold?: number) {
    this.wallets = new WalletTable(db);
    this.addresses = new AddressTable(db);
    this.fundings = new FundingTable(db);
    this.tokens = new TokenTable(db);
    this.zoneMap = new ZoneMapTable(db);
    this.traceGaps = new TraceGapTable(db);
    this.anchors = new AnchorTable(db);
    this.counterpartySums = new CounterpartySumsTable(db, pagesPerFold);
  }
}

/** The changes of one commit. Only one exists at a time, because each reuses the memory of the previous one. */
export class ChangeSet {
  readonly wallets: WalletStates;
  readonly tokens = new Map<number, TokenState>();
  readonly finishedRuns: FinishedPage[] = [];
  /** The new wallets, ordered by their keys in `addresses`. */
  readonly newAddresses: NewAddress[] = [];
  readonly zoneMap: ZoneMap;
  readonly tables: Tables;

  constructor(tables: Tables) {
    this.tables = tables;
    this.wallets = tables.wallets.states;
    tables.wallets.begin();
    tables.tokens.begin();
    this.zoneMap = new ZoneMap(tables.zoneMap);
  }

  wallet(id: number): WalletState {
    return this.wallets.find(id) ?? this.tables.wallets.load(id);
  }

  token(id: number): TokenState {
    let token = this.tokens.get(id);
    if (!token) {
      token = this.tables.tokens.load(id);
      this.tokens.set(id, token);
    }
    return token;
  }

  /**
   * Sets the first funding of the wallet to `transfer`, sent by `funder`; null removes it. Moves the wallet from the old
   * funder's count to the new funder's.
   */
  setFunding(wallet: WalletState, funder: number | null, transfer: number | null): void {
    if (wallet.funder !== funder) {
      if (wallet.funder !== null) this.wallet(wallet.funder).funded--;
      if (funder !== null) this.wallet(funder).funded++;
    }
    wallet.funder = funder;
    wallet.funding = transfer;
  }

  /** Memory used, bytes. */
  get memoryBytes(): number {
    const { tokens } = this.tables;
    return this.wallets.memoryBytes + tokens.memoryBytes + this.tokens.size * TOKEN_BYTES;
  }

  /**
   * Writes each table in ascending key order, so that neighbouring rows hit the same hot page. Writes tokens first,
   * because saving their holdings updates token counts in the wallets' rows.
   */
  save(): void {
    this.tables.tokens.save(this.tokens, this.wallets);
    for (const slot of this.wallets.inOrder()) this.tables.wallets.save(this.wallets.at(slot));
    this.tables.wallets.flush();
    this.tables.addresses.add(this.addressRows());
    this.saveFundings();
    this.finishedRuns.sort((a, b) => a.wallet - b.wallet || a.first - b.first);
    for (const run of this.finishedRuns) this.tables.wallets.savePage(run);
    this.extendSums();
    this.zoneMap.save();
  }

  /** Must run after the finished pages are saved. Those are ordered by wallet. */
  private extendSums(): void {
    const { finishedRuns } = this;
    for (let at = 0, next = 0; at < finishedRuns.length; at = next) {
      const { wallet } = finishedRuns[at]!;
      while (next < finishedRuns.length && finishedRuns[next]!.wallet === wallet) next++;
      this.tables.counterpartySums.extend(this.wallet(wallet), next - at);
    }
  }

  private *addressRows(): Generator<AddressRow> {
    for (const { slot, isWholeKey } of this.newAddresses) {
      const address = this.wallets.addressAt(slot);
      yield { key: isWholeKey ? address : addressPrefix(address), wallet: this.wallets.idAt(slot) };
    }
  }

  private saveFundings(): void {
    const gone: Funding[] = [];
    const added: Funding[] = [];
    for (let slot = 0; slot < this.wallets.count; slot++) {
      const { storedFunder, storedFunding, funder, funding } = this.wallets.at(slot);
      if (funding === storedFunding) continue;
      if (storedFunder !== null && storedFunding !== null)
        gone.push({ funder: storedFunder, funding: storedFunding });
      if (funder !== null && funding !== null) added.push({ funder, funding });
    }
    this.tables.fundings.applyChanges(gone, added);
  }
}
