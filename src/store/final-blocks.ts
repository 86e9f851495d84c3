/** The final blocks of an index: those up to its anchor. The indexer decides what that is (model/finality.ts). */
import { prepareLastBlock, type Tip } from './chain.ts';
import type { Db, Statement } from './open-database.ts';

export class FinalBlocks {
  private readonly anchor: Statement<[], number | null>;
  private readonly lastBlock: ReturnType<typeof prepareLastBlock>;

  constructor(db: Db) {
    this.anchor = db.prepare<[], number | null>('SELECT finalized FROM chain_anchors').pluck();
    this.lastBlock = prepareLastBlock(db);
  }

  /** Number of the highest one, null for none. */
  highest(): number | null {
    return this.anchor.get() ?? null;
  }

  /** The highest one, null for none. */
  last(): Tip | null {
    const number = this.highest();
    return number === null ? null : this.lastBlock(number);
  }
}
