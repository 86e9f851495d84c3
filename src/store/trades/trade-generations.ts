/**
 * The table `trade_rules`: by which lists the trades of this index are told. The sums of trades follow from the lists,
 * so other lists need other sums. Those are built beside the ones in use, as the next generation, in the steps of
 * derived.ts; meanwhile commits and rollbacks keep the ones in use, and answers use their lists. Once complete, the
 * next generation takes their place, and steps delete the rows of the former one.
 */
import { type Hex, hexToBytes } from '../../lib/hex.ts';
import {
  compareTradeRules,
  formatTradeRules,
  parseTradeRules,
  TRADE_RULES_VERSION,
  type TradeRules,
} from '../../model/trade-rules.ts';
import { TransferKind } from '../../model/transfer-kind.ts';
import { tradeIdsOf } from '../../trades/trade-ids.ts';
import type { TradeIds } from '../../trades/trade-part.ts';
import { type AddressKeys, getByAddress, WALLET_BY_ADDRESS } from '../addresses.ts';
import { rowChecksum } from '../checksum.ts';
import type { Db, Statement } from '../open-database.ts';
import { ZERO_WALLET } from '../schema.ts';
import { DamageError } from '../storage-error.ts';

export interface TradeGeneration {
  generation: number;
  rules: TradeRules;
}

/** The generation in use; the next one while the lists change. Both null before an index has any lists. */
export interface TradeGenerations {
  current: TradeGeneration | null;
  next: TradeGeneration | null;
}

/** Throws DamageError if a row is damaged. */
export function prepareTradeGenerations(db: Db): () => TradeGenerations {
  const statement = db.prepare<[], { generation: number; rules: string; checksum: number }>(
    'SELECT generation, rules, checksum FROM trade_rules ORDER BY generation',
  );
  return () => {
    const [current = null, next = null] = statement.all().map(({ generation, rules: text, checksum }) => {
      const rules = parseTradeRules(text);
      if (rules === null || rowChecksum(generation, text) !== checksum)
        throw new DamageError('the lists by which trades are told (trade_rules) are damaged');
      return { generation, rules };
    });
    return { current, next };
  };
}

/** Tables whose rows belong to a generation. */
const TABLES = ['trade_sums', 'traded_tokens', 'trade_peaks'] as const;

/** The statements on the generations. */
export class TradeGenerationTable {
  readonly read: () => TradeGenerations;
  private readonly db: Db;
  private readonly insert: Statement;
  private readonly remove: Statement;

  constructor(db: Db) {
    this.db = db;
    this.read = prepareTradeGenerations(db);
    this.insert = db.prepare('REPLACE INTO trade_rules (generation, rules, checksum) VALUES (?, ?, ?)');
    this.remove = db.prepare('DELETE FROM trade_rules WHERE generation = ?');
  }

  /**
   * Makes `wanted` the lists of a generation. `isBegun`: whether there may be sums of the current one. Returns which
   * generation is empty now, if one is.
   */
  setRules(wanted: TradeRules, isBegun: boolean): 'current' | 'next' | null {
    const { current, next } = this.read();
    const isSame = (other: TradeGeneration | null) =>
      other !== null && compareTradeRules(other.rules, wanted).length === 0;
    if (isSame(next)) return null;
    if (next !== null) this.remove.run(next.generation);
    if (isSame(current)) return null;
    // This program can no longer tell trades as another version did.
    const isUsable = current !== null && isBegun && current.rules.version === TRADE_RULES_VERSION;
    if (current !== null && !isUsable) this.remove.run(current.generation);
    this.write(this.unused(current), wanted);
    return isUsable ? 'next' : 'current';
  }

  /** Puts the next generation in the place of the current one. */
  advance(): void {
    const { current, next } = this.read();
    if (current !== null && next !== null) this.remove.run(current.generation);
  }

  /** Deletes at most `limit` rows of former generations from each table. Returns whether there were any. */
  deleteFormer(limit: number): boolean {
    const { current, next } = this.read();
    const kept = [current, next].flatMap((each) => (each === null ? [] : [each.generation]));
    return TABLES.map((table) => this.deleteRows(table, kept, limit)).includes(true);
  }

  private deleteRows(table: (typeof TABLES)[number], kept: readonly number[], limit: number): boolean {
    const key = { trade_sums: 'token, wallet', traded_tokens: 'token', trade_peaks: 'token, quote, span' }[
      table
    ];
    const former = this.generationsIn(table).find((generation) => !kept.includes(generation));
    if (former === undefined) return false;
    this.db
      .prepare(/* sql */ `
        DELETE FROM ${table} WHERE (generation, ${key}) IN (
          SELECT generation, ${key} FROM ${table} WHERE generation = ? LIMIT ?)`)
      .run(former, limit);
    return true;
  }

  /** A generation of which there are no rows. */
  private unused(current: TradeGeneration | null): number {
    const used = TABLES.flatMap((table) => this.generationsIn(table));
    return Math.max(current?.generation ?? -1, ...used) + 1;
  }

  private generationsIn(table: (typeof TABLES)[number]): number[] {
    const after = this.db
      .prepare<[number], number>(
        `SELECT generation FROM ${table} WHERE generation > ? ORDER BY generation LIMIT 1`,
      )
      .pluck();
    const found: number[] = [];
    for (let next = after.get(-1); next !== undefined; next = after.get(next)) found.push(next);
    return found;
  }

  private write(generation: number, rules: TradeRules): void {
    const row = [generation, formatTradeRules(rules)];
    this.insert.run(...row, rowChecksum(...row));
  }
}

/** The ids of lists as of now. A token's form is read once per result, so do not keep it beyond a commit. */
export function prepareStoredTradeIds(db: Db): (rules: TradeRules) => TradeIds {
  const walletBy = db.prepare<AddressKeys, number>(`SELECT w.id FROM ${WALLET_BY_ADDRESS}`).pluck();
  const tokenBy = db.prepare<[number], number>('SELECT id FROM tokens WHERE wallet = ?').pluck();
  const kindOf = db.prepare<[number], number>('SELECT kind FROM tokens WHERE id = ?').pluck();
  const walletOf = (address: Hex) => getByAddress(walletBy, hexToBytes(address));
  return (rules) => {
    const counts = new Map<number, boolean>();
    return tradeIdsOf(rules, {
      zero: ZERO_WALLET,
      walletOf,
      tokenOf(address) {
        const wallet = walletOf(address);
        return wallet === undefined ? undefined : tokenBy.get(wallet);
      },
      countsUnits(token) {
        let counted = counts.get(token);
        if (counted === undefined) {
          counted = kindOf.get(token) === TransferKind.erc20;
          counts.set(token, counted);
        }
        return counted;
      },
    });
  };
}
