/** Reads rows of a table by their keys. */
import type { Db, Statement } from './open-database.ts';

/** Keys per statement. Calling a statement costs as much as finding a row and returning it. */
const KEYS_PER_STATEMENT = 8;

/** A row in the driver's raw mode, after the position of its key in the statement. */
type Found = [place: number, ...columns: unknown[]];

/** Reads several rows with each statement. Select blobs as `hex(...)`: creating a Buffer costs as much as all else. */
export class RowReader<Row extends Found> {
  private readonly keyColumns: number;
  private readonly statement: Statement<unknown[], Row>;

  /**
   * `columns` and `table` are SQL: `SELECT ${columns} FROM ... CROSS JOIN ${table}`. `table` ends with a condition on the
   * key, whose values are k.column2, k.column3 and so on.
   */
  constructor(db: Db, keyColumns: number, columns: string, table: string) {
    this.keyColumns = keyColumns;
    const keys = Array.from({ length: KEYS_PER_STATEMENT }, (_, i) => `(${i}${', ?'.repeat(keyColumns)})`);
    this.statement = db
      .prepare<unknown[], Row>(
        `SELECT k.column1, ${columns} FROM (VALUES ${keys.join(', ')}) k CROSS JOIN ${table}`,
      )
      .raw();
  }

  /** Calls `found` with each row and the position of its key. `keys` lists the values of all keys. */
  read(keys: readonly unknown[], found: (row: Row, place: number) => void): void {
    const { keyColumns, statement } = this;
    const step = KEYS_PER_STATEMENT * keyColumns;
    for (let at = 0; at < keys.length; at += step) {
      const some = keys.slice(at, at + step);
      while (some.length < step) some.push(null); // finds nothing
      for (const row of statement.all(...some)) found(row, at / keyColumns + row[0]);
    }
  }
}
