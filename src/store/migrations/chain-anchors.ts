/** Migrations 2 and 9: the row of the chain anchors. */
import { rowChecksum } from '../checksum.ts';
import type { Migration } from './migration.ts';

export const CHECKSUM_OF_ANCHORS: Migration = {
  version: 2,
  title: 'add a checksum to the chain identity',
  step(db) {
    const columns = 'one, genesis, first_parent, finalized, reorg_from';
    const row = db.prepare<[], unknown[]>(`SELECT ${columns} FROM chain_anchors`).raw().get();
    db.exec(/* sql */ `
      DROP TABLE chain_anchors;
      CREATE TABLE chain_anchors (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        genesis BLOB,
        first_parent BLOB,
        finalized INTEGER,
        reorg_from INTEGER,
        checksum INTEGER NOT NULL
      );`);
    if (row !== undefined)
      db.prepare(`INSERT INTO chain_anchors (${columns}, checksum) VALUES (?, ?, ?, ?, ?, ?)`).run(
        ...row,
        rowChecksum(...row),
      );
    return null;
  },
};

/**
 * Earlier releases took every block that a node called finalized for final, also where a node calls its latest one so.
 * The daemon proves the tag again. A row that does not match its checksum stays damaged.
 */
export const UNPROVED_ANCHORS: Migration = {
  version: 9,
  title: 'forget final blocks that no node proved',
  step(db) {
    const columns = 'one, genesis, first_parent, finalized, reorg_from';
    const row = db
      .prepare<[], [unknown, unknown, unknown, unknown, unknown]>(`SELECT ${columns} FROM chain_anchors`)
      .raw()
      .get();
    if (row === undefined) return null;
    const [one, genesis, firstParent, , reorgFrom] = row;
    db.prepare('UPDATE chain_anchors SET finalized = NULL, checksum = ? WHERE checksum = ?').run(
      rowChecksum(one, genesis, firstParent, null, reorgFrom),
      rowChecksum(...row),
    );
    return null;
  },
};
