/** The final blocks of an index, by its anchor or its depth (model/finality.ts). */
import { settingName } from '../lib/setting-name.ts';
import { finalOfIndex } from '../model/finality.ts';
import { prepareLastBlock, type Tip } from './chain.ts';
import type { Db, Statement } from './open-database.ts';

export class FinalBlocks {
  private readonly maxReorg: number;
  private readonly anchorOf: Statement<[], number | null>;
  private readonly lastBlock: ReturnType<typeof prepareLastBlock>;

  /** `maxReorg` is `index.max_reorg`. */
  constructor(db: Db, maxReorg: number) {
    this.maxReorg = maxReorg;
    this.anchorOf = db.prepare<[], number | null>('SELECT finalized FROM chain_anchors').pluck();
    this.lastBlock = prepareLastBlock(db);
  }

  /** The highest block that the daemon found final by the node or at once, null for none. */
  anchor(): number | null {
    return this.anchorOf.get() ?? null;
  }

  /** The highest final one, null for none. */
  last(): Tip | null {
    const head = this.lastBlock();
    if (head === null) return null;
    const final = finalOfIndex({ anchor: this.anchor(), head: head.number, maxReorg: this.maxReorg });
    return final === null ? null : this.lastBlock(final);
  }

  /** What decides, for messages. */
  explain(): string {
    const head = this.lastBlock()?.number;
    const place = head === undefined ? 'the index is empty' : `the index is at block ${head}`;
    const anchor = this.anchor();
    if (anchor !== null) return `${place}, and the daemon found it final up to block ${anchor}`;
    return (
      `${place}, and as the daemon found no block final by the node, one counts as final once ` +
      `${this.maxReorg} blocks are above it (${settingName('index.max_reorg')})`
    );
  }
}
