/**
 * The table `derived`: up to which transfer each structure is complete that the index derives from its transfers alone. In
 * a new index they are complete from the start, and commits and rollbacks keep them so. An index of an earlier release
 * gets a new structure empty, and the writer completes it in steps between commits, from the stored transfers and by the
 * code of a commit. A step and the row of its structure commit together.
 */
import { rowChecksum } from './checksum.ts';
import type { Db, Statement } from './open-database.ts';
import { tokenOf } from './schema.ts';
import { DamageError } from './storage-error.ts';
import { TokenHistoryTable } from './tokens/token-history.ts';

const DERIVED_NAMES = ['token_history'] as const;
export type DerivedName = (typeof DERIVED_NAMES)[number];

/** A structure that is complete up to a transfer, 0 for none. */
export interface DerivedEnd {
  name: DerivedName;
  lastTransfer: number;
}

/** Transfers that are added to a structure: those from `first` on. */
export interface AddedTransfers {
  first: number;
  /** tokens.id of each, 0 for a native one. */
  tokens: Float64Array;
}

/** Makes the rows of an empty index. */
export function createDerived(db: Db): void {
  const setEnd = prepareSetEnd(db);
  for (const name of DERIVED_NAMES) setEnd(name, 0);
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
  private readonly tokenHistory: TokenHistoryTable;

  constructor(db: Db) {
    this.endOf = prepareDerivedEnd(db);
    this.setEnd = prepareSetEnd(db);
    this.tokenKinds = db
      .prepare<[number, number], number>(
        'SELECT token_kind FROM transfers WHERE id >= ? AND id <= ? ORDER BY id',
      )
      .pluck();
    this.tokenHistory = new TokenHistoryTable(db);
  }

  /** The structures that end before the transfer `last`. */
  incomplete(last: number): DerivedEnd[] {
    const ends = DERIVED_NAMES.map((name) => ({ name, lastTransfer: this.endOf(name) }));
    return ends.filter(({ lastTransfer }) => lastTransfer < last);
  }

  /** Adds the transfers of a commit, from `first` on, where those before are there. Call it once their tokens have rows. */
  append(first: number, read: () => AddedTransfers): void {
    if (this.endOf('token_history') === first - 1) this.add(read());
  }

  /** Removes the transfers above `last`, which are of these tokens. Call it while their rows are there. */
  rollback(tokens: Iterable<number>, last: number): void {
    if (this.endOf('token_history') <= last) return;
    this.tokenHistory.rollback(tokens, last);
    this.setEnd('token_history', last);
  }

  /** Adds at most `limit` of the next transfers, up to `last`, to a structure that lacks them. */
  step(last: number, limit: number): void {
    const [lagging] = this.incomplete(last);
    if (lagging === undefined) return;
    const first = lagging.lastTransfer + 1;
    const end = Math.min(last, lagging.lastTransfer + limit);
    const tokens = Float64Array.from(this.tokenKinds.all(first, end), tokenOf);
    if (tokens.length !== end - first + 1)
      throw new DamageError(`some of the transfers ${first} to ${end} are missing`);
    this.add({ first, tokens });
  }

  private add({ first, tokens }: AddedTransfers): void {
    this.tokenHistory.append(first, tokens);
    this.setEnd('token_history', first + tokens.length - 1);
  }
}
