/** Older forms of the index file. */
import { readFileSync } from 'node:fs';
import { ActivityCursor } from '../../src/store/activity.ts';
import type { Db } from '../../src/store/open-database.ts';
import { isNativeKind } from '../../src/types.ts';

/** The text of the first schema. */
const FIRST = readFileSync(new URL('../fixtures/schema-1.sql', import.meta.url), 'utf8');

/** What the migrations so far have added. */
const ADDED = ['token_quality', 'token_metadata', 'addresses', 'fundings', 'untraced_blocks'];

/** Tables that they have changed; their columns of the first schema can all still be read. */
const CHANGED = ['transfers', 'wallets', 'activity'];

/** Takes a file of the present schema back to the first one. */
export function toFirstSchema(db: Db): void {
  db.function('first_run', firstRun);
  db.transaction(() => {
    for (const table of ADDED) db.exec(`DROP TABLE ${table}`);
    for (const table of CHANGED) db.exec(`ALTER TABLE ${table} RENAME TO ${table}_now`);
    for (const statement of FIRST.split(/(?<=;)\n/)) {
      const table = /^CREATE TABLE (\w+)|^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)/m.exec(statement);
      if (CHANGED.includes(table?.[1] ?? table?.[2] ?? '')) db.exec(statement);
    }
    for (const table of CHANGED) {
      const columns = db.pragma(`table_info(${table})`) as { name: string }[];
      const names = columns.map(({ name }) => name);
      const values = names.map((name) =>
        name === 'recent' || name === 'entries' ? `first_run(t.${name}, w.first_transfer)` : `t.${name}`,
      );
      const wallet = table === 'activity' ? 't.wallet' : 't.id';
      db.exec(/* sql */ `
        INSERT INTO ${table} (${names.join()})
        SELECT ${values.join()} FROM ${table}_now t LEFT JOIN wallets_now w ON w.id = ${wallet}`);
    }
    for (const table of CHANGED) db.exec(`DROP TABLE ${table}_now`);
    db.pragma('user_version = 1');
  })();
}

/** A run as the first schema has it: the id of its first transfer, and the number of bytes of wei in front of them. */
function firstRun(run: unknown, base: unknown): Buffer {
  const cursor = new ActivityCursor().open(run as Buffer, Number(base));
  const bytes: number[] = [];
  const varint = (value: number) => {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
    bytes.push(rest);
  };
  for (let before = 0; cursor.next(); before = cursor.transfer) {
    varint(cursor.transfer - before);
    bytes.push(cursor.flags);
    varint(cursor.counterparty);
    const wei = cursor.bytes.subarray(cursor.amountStart, cursor.amountEnd);
    if (isNativeKind(cursor.flags & 7)) bytes.push(wei.length, ...wei);
  }
  return Buffer.from(bytes);
}
