/** Older forms of the index file. */
import type { Db } from '../../src/store/open.ts';

/** What the migrations so far have added. */
const ADDED = ['token_quality', 'token_metadata'];

/** Takes a file of the present schema back to the first one. */
export function toFirstSchema(db: Db): void {
  for (const table of ADDED) db.exec(`DROP TABLE ${table}`);
  db.pragma('user_version = 1');
}
