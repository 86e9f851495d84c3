/** The table `fundings`: the first fundings by each funder. */
import type { Db, Statement } from './open.ts';
import { RowWriter } from './row-writer.ts';

/** A first funding: who sent it, and the transfer. */
export interface Funding {
  funder: number;
  funding: number;
}

/** The statements on `fundings` that a commit needs. */
export class FundingTable {
  private readonly inserts: RowWriter;
  private readonly drop: Statement;

  constructor(db: Db) {
    this.inserts = new RowWriter(db, 'INSERT INTO fundings (funder, funding) VALUES (?, ?)');
    this.drop = db.prepare('DELETE FROM fundings WHERE funder = ? AND funding = ?');
  }

  /** Removes the `gone` and inserts the `added`, each in key order. */
  change(gone: Funding[], added: Funding[]): void {
    for (const { funder, funding } of gone.sort(byKey)) this.drop.run(funder, funding);
    this.inserts.begin();
    for (const { funder, funding } of added.sort(byKey)) this.inserts.add(funder, funding);
    this.inserts.flush();
  }
}

function byKey(a: Funding, b: Funding): number {
  return a.funder - b.funder || a.funding - b.funding;
}
