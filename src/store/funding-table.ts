/** The table `fundings`: the first fundings by each funder. */
import type { Db, Statement } from './open-database.ts';
import { RowWriter } from './row-writer.ts';

/** A first funding: who sent it, and the transfer. */
export interface Funding {
  funder: number;
  funding: number;
}

/** The statements on `fundings` that a commit needs. */
export class FundingTable {
  private readonly inserts: RowWriter;
  private readonly deleteFunding: Statement;

  constructor(db: Db) {
    this.inserts = new RowWriter(db, 'INSERT INTO fundings (funder, funding) VALUES (?, ?)');
    this.deleteFunding = db.prepare('DELETE FROM fundings WHERE funder = ? AND funding = ?');
  }

  /** Removes the `gone` and inserts the `added`, each in key order. */
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
