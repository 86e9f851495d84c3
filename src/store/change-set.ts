/** The rows one commit changes, loaded on first use and written back in key order at its end. */

import { type AddressRow, AddressTable, addressPrefix } from './addresses.ts';
import { AnchorTable } from './chain.ts';
import type { Db, Statement } from './open-database.ts';
import { RowWriter } from './row-writer.ts';
import { ADDRESS_BYTES, ADDRESS_PREFIX_BYTES } from './schema.ts';
import { type TokenState, TokenTable } from './token-state.ts';
import { TraceGapTable } from './trace-gaps.ts';
import { type FinishedPage, type WalletState, WalletTable } from './wallet-state.ts';
import { ZoneMap, ZoneMapTable } from './zone-map.ts';

/** The first funding of a wallet. */
interface Funding {
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

  /** Deletes `gone` and inserts `added`, each in key order. */
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
  constructor(db: Db) {
    this.wallets = new WalletTable(db);
    this.addresses = new AddressTable(db);
    this.fundings = new FundingTable(db);
    this.tokens = new TokenTable(db);
    this.zoneMap = new ZoneMapTable(db);
    this.traceGaps = new TraceGapTable(db);
    this.anchors = new AnchorTable(db);
  }
}

/** The changes of one commit. Only one exists at a time: each reuses the memory of the previous one. */
export class ChangeSet {
  readonly wallets = new Map<number, WalletState>();
  readonly tokens = new Map<number, TokenState>();
  readonly finishedRuns: FinishedPage[] = [];
  /** The rows of `addresses` for the new wallets, in key order. */
  readonly newAddressRows: AddressRow[] = [];
  readonly zoneMap: ZoneMap;
  readonly tables: Tables;

  constructor(tables: Tables) {
    this.tables = tables;
    tables.wallets.begin();
    tables.tokens.begin();
    this.zoneMap = new ZoneMap(tables.zoneMap);
  }

  wallet(id: number): WalletState {
    let wallet = this.wallets.get(id);
    if (!wallet) {
      wallet = this.tables.wallets.load(id);
      this.wallets.set(id, wallet);
    }
    return wallet;
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

  /**
   * Writes each table in ascending key order, so that neighbouring rows hit the same hot page.
   * Tokens come first: saving their holdings updates the token counts in the wallets' rows.
   */
  save(): void {
    for (const id of [...this.tokens.keys()].sort((a, b) => a - b))
      this.tables.tokens.save(this.tokens.get(id)!);
    this.tables.tokens.flush();
    for (const id of [...this.wallets.keys()].sort((a, b) => a - b))
      this.tables.wallets.save(this.wallets.get(id)!);
    this.tables.wallets.flush();
    this.tables.addresses.add(this.newAddressRows);
    this.saveFundings();
    this.finishedRuns.sort((a, b) => a.wallet - b.wallet || a.first - b.first);
    for (const run of this.finishedRuns) this.tables.wallets.savePage(run);
    this.zoneMap.save();
  }

  private saveFundings(): void {
    const gone: Funding[] = [];
    const added: Funding[] = [];
    for (const { storedFunder, storedFunding, funder, funding } of this.wallets.values()) {
      if (funding === storedFunding) continue;
      if (storedFunder !== null && storedFunding !== null)
        gone.push({ funder: storedFunder, funding: storedFunding });
      if (funder !== null && funding !== null) added.push({ funder, funding });
    }
    this.tables.fundings.applyChanges(gone, added);
  }
}

/** The distinct addresses of a commit, in order of first appearance. */
export class AddressResolver {
  private readonly bytes: Buffer;
  private readonly positionByAddress = new Map<string, number>();

  /** `bytes`: the size of all addresses that will be added. */
  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
  }

  /** Adds concatenated addresses. Returns the position of each among the distinct ones. */
  add(addresses: Uint8Array): Uint32Array {
    const text = Buffer.from(addresses.buffer, addresses.byteOffset, addresses.byteLength);
    const positions = new Uint32Array(addresses.length / ADDRESS_BYTES);
    for (let i = 0; i < positions.length; i++) {
      const at = i * ADDRESS_BYTES;
      const key = text.toString('latin1', at, at + ADDRESS_BYTES);
      let position = this.positionByAddress.get(key);
      if (position === undefined) {
        position = this.positionByAddress.size;
        this.positionByAddress.set(key, position);
        text.copy(this.bytes, position * ADDRESS_BYTES, at, at + ADDRESS_BYTES);
      }
      positions[i] = position;
    }
    return positions;
  }

  /**
   * The wallet of each address; unknown ones get the ids after `lastWallet`. It looks up all ids in address order and
   * then all rows in id order, so each page of either table is fetched once. Looking up one address after another would
   * fetch two pages for each.
   */
  resolve(changes: ChangeSet, lastWallet: number): WalletState[] {
    const { tables, wallets: loaded } = changes;
    const count = this.positionByAddress.size;
    const prefixes = Float64Array.from({ length: count }, (_, i) =>
      this.bytes.readUIntBE(i * ADDRESS_BYTES, ADDRESS_PREFIX_BYTES),
    );
    const byPrefix = sortedPositions(prefixes);
    const ids = new Float64Array(count);
    for (const position of byPrefix) {
      ids[position] = tables.addresses.walletByKey(addressPrefix(this.at(position))) ?? UNKNOWN_ID;
    }
    const found = new Array<WalletState>(count);
    for (const position of sortedPositions(ids)) {
      const id = ids[position]!;
      if (id === UNKNOWN_ID) break;
      const wallet = this.loadMatching(tables, id, this.at(position));
      if (wallet !== undefined) found[position] = wallet;
    }
    for (let i = 0, last = lastWallet; i < count; i++) {
      const wallet = found[i] ?? tables.wallets.create(++last, this.at(i));
      found[i] = wallet;
      loaded.set(wallet.id, wallet);
    }
    for (const [rank, position] of byPrefix.entries()) {
      const { id, address } = found[position]!;
      if (id <= lastWallet) continue;
      const before = byPrefix[rank - 1];
      const isTaken =
        ids[position] !== UNKNOWN_ID || (before !== undefined && prefixes[before] === prefixes[position]);
      changes.newAddressRows.push({ key: isTaken ? address : addressPrefix(address), wallet: id });
    }
    return found;
  }

  /** The wallet of an address whose prefix leads to wallet `first`; undefined when there is none. */
  private loadMatching(
    { wallets, addresses }: Tables,
    first: number,
    address: Uint8Array,
  ): WalletState | undefined {
    const wallet = wallets.loadIfAddressMatches(first, address);
    if (wallet !== undefined) return wallet;
    const id = addresses.walletByKey(address);
    return id === undefined ? undefined : wallets.load(id);
  }

  private at(position: number): Uint8Array {
    return this.bytes.subarray(position * ADDRESS_BYTES, (position + 1) * ADDRESS_BYTES);
  }
}

/** Stands for an unknown wallet; sorts after every id. */
const UNKNOWN_ID = Number.MAX_SAFE_INTEGER;

/** The positions of the numbers, sorted by number and then by position. */
function sortedPositions(numbers: ArrayLike<number>): Uint32Array {
  return Uint32Array.from({ length: numbers.length }, (_, i) => i).sort(
    (a, b) => numbers[a]! - numbers[b]! || a - b,
  );
}
