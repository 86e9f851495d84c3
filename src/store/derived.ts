/**
 * The table `derived`: up to which transfer each structure is complete that the index derives from its transfers alone.
 * In a new index they are complete from the start, and commits and rollbacks keep them so. An index of an earlier
 * release gets a new structure empty, and the writer completes it in steps between commits, from the stored transfers
 * and by the code of a commit. A step and the row of its structure commit together.
 */
import type { TradeRules } from '../model/trade-rules.ts';
import type { BlockRange } from './block-gaps.ts';
import { rowChecksum } from './checksum.ts';
import type { AddedTransfers, DerivedEnd, DerivedName, TradeSumsName } from './derived-structure.ts';
import type { Db, Statement } from './open-database.ts';
import { tokenOf } from './schema.ts';
import { DamageError } from './storage-error.ts';
import { TokenHistoryTable } from './tokens/token-history.ts';
import { TokenMintTable } from './tokens/token-mints.ts';
import { TradeSumsStructure } from './trades/trade-sums-structure.ts';

/** Makes the rows of an empty index. */
export function createDerived(db: Db): void {
  const setEnd = prepareSetEnd(db);
  for (const name of ['token_history', 'token_mints', 'trade_sums'] as const) setEnd(name, 0);
}

function prepareSetEnd(db: Db): (name: DerivedName, lastTransfer: number) => void {
  const statement = db.prepare('REPLACE INTO derived (name, last_transfer, checksum) VALUES (?, ?, ?)');
  return (name, lastTransfer) => {
    statement.run(name, lastTransfer, rowChecksum(name, lastTransfer));
  };
}

/** Up to which transfer a structure is complete. Throws DamageError if the row is missing or damaged. */
export function prepareDerivedEnd(db: Db): (name: DerivedName) => number {
  const statement = db.prepare<[string], { lastTransfer: number; checksum: number }>(
    'SELECT last_transfer AS lastTransfer, checksum FROM derived WHERE name = +?',
  );
  return (name) => {
    const row = statement.get(name);
    if (row === undefined || row.checksum !== rowChecksum(name, row.lastTransfer))
      throw new DamageError(`the table derived does not say up to where ${name} is complete`);
    return row.lastTransfer;
  };
}

/** The structures with their statements, as commits, rollbacks and steps change them. */
export class DerivedTables {
  private readonly endOf: (name: DerivedName) => number;
  private readonly setEnd: (name: DerivedName, lastTransfer: number) => void;
  private readonly tokenKinds: Statement<[number, number], number>;
  private readonly endOfBlock: Statement<[number], number>;
  private readonly removeEnd: Statement;
  private readonly tokenHistory: TokenHistoryTable;
  private readonly tokenMints: TokenMintTable;
  readonly trades: TradeSumsStructure;

  constructor(db: Db) {
    this.endOf = prepareDerivedEnd(db);
    this.setEnd = prepareSetEnd(db);
    this.removeEnd = db.prepare('DELETE FROM derived WHERE name = ?');
    this.tokenKinds = db
      .prepare<[number, number], number>(
        'SELECT token_kind FROM transfers WHERE id >= ? AND id <= ? ORDER BY id',
      )
      .pluck();
    this.endOfBlock = db
      .prepare<[number], number>(
        'SELECT last_transfer FROM blocks WHERE last_transfer >= ? ORDER BY last_transfer LIMIT 1',
      )
      .pluck();
    this.tokenHistory = new TokenHistoryTable(db);
    this.tokenMints = new TokenMintTable(db);
    this.trades = new TradeSumsStructure(db);
  }

  /** The structures that end before the transfer `last`, or are to take the place of another one. */
  incomplete(last: number): DerivedEnd[] {
    const ends = this.names().map((name) => ({ name, lastTransfer: this.endOf(name) }));
    return ends.filter(({ name, lastTransfer }) => lastTransfer < last || name === 'new_trade_sums');
  }

  /** Adds the transfers of a commit where those before are there. Call it once their wallets and tokens have rows. */
  append(added: AddedTransfers): void {
    for (const name of this.names()) if (this.endOf(name) === added.first - 1) this.add(name, added);
  }

  /** Removes the transfers above `last`, which are of these tokens. Call it while their rows are there. */
  rollback(tokens: Iterable<number>, last: number): void {
    for (const name of this.names()) {
      const end = this.endOf(name);
      if (end <= last) continue;
      if (name === 'token_history') this.tokenHistory.rollback(tokens, last);
      else if (name === 'token_mints') this.tokenMints.subtract(this.tokenMints.stored(last + 1, end));
      else this.trades.remove(name, last + 1, end);
      this.setEnd(name, last);
    }
  }

  /**
   * Does part of the next work: adds at most about `limit` transfers, up to `last`, to a structure that lacks them, or
   * deletes as many rows. Returns whether there was any.
   */
  step(last: number, limit: number): boolean {
    const lagging = this.incomplete(last);
    const next = lagging.find(({ lastTransfer }) => lastTransfer < last);
    if (next !== undefined) this.add(next.name, this.stored(next, last, limit));
    else if (lagging.length > 0) this.replaceTradeSums();
    else return this.trades.generations.deleteFormer(limit);
    return true;
  }

  /** Sets the lists by which trades are told. Other ones than before are in use once the sums by them are complete. */
  setTradeRules(rules: TradeRules): void {
    const { generations } = this.trades;
    const emptied = generations.setRules(rules, this.endOf('trade_sums') > 0);
    if (emptied === 'current') this.setEnd('trade_sums', 0);
    if (emptied === 'next') this.setEnd('new_trade_sums', 0);
    if (generations.read().next === null) this.removeEnd.run('new_trade_sums');
  }

  /** Adds what was left out of these blocks while they were gaps. */
  addComplete(blocks: BlockRange): void {
    const { first, last } = this.trades.stored.transfersOf(blocks);
    for (const name of this.tradeSums())
      this.trades.add(name, this.trades.stored.trading(first, Math.min(last, this.endOf(name))));
  }

  private names(): DerivedName[] {
    return ['token_history', 'token_mints', ...this.tradeSums()];
  }

  private tradeSums(): TradeSumsName[] {
    const { current, next } = this.trades.generations.read();
    const names: TradeSumsName[] = [];
    if (current !== null) names.push('trade_sums');
    if (next !== null) names.push('new_trade_sums');
    return names;
  }

  private add(name: DerivedName, added: AddedTransfers): void {
    if (name === 'token_history') this.tokenHistory.append(added.first, added.tokens());
    else if (name === 'token_mints') this.tokenMints.add(added.mints());
    else this.trades.add(name, added.trading());
    this.setEnd(name, added.first + added.count - 1);
  }

  /** The next transfers that a structure lacks. Trades need whole transactions. */
  private stored({ name, lastTransfer }: DerivedEnd, last: number, limit: number): AddedTransfers {
    const first = lastTransfer + 1;
    const wanted = Math.min(last, lastTransfer + limit);
    const isOfTrades = name === 'trade_sums' || name === 'new_trade_sums';
    const end = isOfTrades ? (this.endOfBlock.get(wanted) ?? last) : wanted;
    return {
      first,
      count: end - lastTransfer,
      tokens: () => {
        const tokens = Float64Array.from(this.tokenKinds.all(first, end), tokenOf);
        if (tokens.length !== end - lastTransfer)
          throw new DamageError(`some of the transfers ${first} to ${end} are missing`);
        return tokens;
      },
      mints: () => this.tokenMints.stored(first, end),
      trading: () => this.trades.stored.trading(first, end),
    };
  }

  private replaceTradeSums(): void {
    this.setEnd('trade_sums', this.endOf('new_trade_sums'));
    this.removeEnd.run('new_trade_sums');
    this.trades.generations.advance();
  }
}
