/** Whether the file itself is whole. */
import type { Db } from '../store/open-database.ts';
import type { Check } from './report.ts';

/** Files up to this size are read in full: that takes some two seconds, and as long as the disk needs. */
const MAX_BYTES = 2 * 2 ** 30;
const MAX_FAULTS = 10;

/** SQLite's own check of pages, rows and indexes. It reads one commit and holds up checkpoints while it runs. */
export function checkFile(db: Db, check: Check): void {
  const pages = Number(db.pragma('page_count', { simple: true }));
  const bytes = pages * Number(db.pragma('page_size', { simple: true }));
  if (bytes > MAX_BYTES)
    return check.addNote('not read through: it is larger than 2 GiB (PRAGMA integrity_check does it)');
  const faults = db.prepare<[], string>(`PRAGMA integrity_check(${MAX_FAULTS})`).pluck().all();
  for (const fault of faults) if (fault !== 'ok') check.addDifference(`SQLite finds ${fault}`);
  check.compared = `${pages.toLocaleString('en-US')} pages read through`;
}
