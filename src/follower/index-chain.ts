/** Reads of the indexed chain that decide where a follower stands. */
import { bytesToHex, type Hex } from '../lib/hex.ts';
import { highestBeyondReorg, isFinal } from '../model/finality.ts';
import { currentMark, type Rewrites, rewrittenBelow, rewrittenSince } from '../model/rewrites.ts';
import { FinalBlocks } from '../store/final-blocks.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { prepareRewrites } from '../store/rewrites.ts';
import type { Chain, KnownBlock } from './outcome.ts';
import { type TrailStart, trailTo } from './trail.ts';

export class IndexChain {
  readonly maxReorg: number;
  private readonly final: FinalBlocks;
  private readonly rewrites: () => Rewrites;
  private readonly hashes: Statement<[number], Buffer>;
  private readonly blocks: Statement<[number, number], { number: number; hash: Buffer }>;

  /** `maxReorg` is `index.max_reorg`. */
  constructor(db: Db, maxReorg: number) {
    this.maxReorg = maxReorg;
    this.final = new FinalBlocks(db, maxReorg);
    this.rewrites = prepareRewrites(db);
    this.hashes = db.prepare<[number], Buffer>('SELECT hash FROM blocks WHERE number = +?').pluck();
    this.blocks = db.prepare(/* sql */ `
      SELECT number, hash FROM blocks WHERE number > +? AND number < +? ORDER BY number DESC`);
  }

  readonly hashAt = (block: number): Hex | null => {
    const hash = this.hashes.get(block);
    return hash === undefined ? null : bytesToHex(hash);
  };

  /** The mark of the index now. */
  mark(): string {
    return currentMark(this.rewrites());
  }

  /** The commit as a follower sees it that comes with a mark. Its blocks below `first` were never the follower's. */
  seenFrom(mark: string, head: number, first = 0): Chain {
    const rewrites = this.rewrites();
    const from = rewrittenSince(rewrites, mark);
    return {
      head,
      hashAt: this.hashAt,
      rewrittenFrom: from === null ? null : Math.max(from, first),
      mark: currentMark(rewrites),
    };
  }

  /**
   * The block to read again from after a client has read everything up to a block under a mark; null if all of that
   * still holds.
   */
  readAgainFrom(number: number, hash: Hex, mark: string | null, rewrites = this.rewrites()): number | null {
    const from = rewrittenBelow(rewrites, number, mark);
    if (this.hashAt(number) === hash) return from;
    const final = this.final.anchor();
    // A final block above says nothing about the branch that the client saw.
    const finalized = isFinal(number, final) ? null : final;
    const fork = highestBeyondReorg({ finalized, head: number, maxReorg: this.maxReorg });
    return Math.max(0, Math.min(fork, from ?? fork));
  }

  /** The highest final block, -1 for none. */
  finalBlock(): number {
    return this.final.last()?.number ?? -1;
  }

  /** Highest block that no reorg can reach while the index is at `head`. */
  beyondReorg(head: number): number {
    return highestBeyondReorg({ finalized: this.final.anchor(), head, maxReorg: this.maxReorg });
  }

  /** The trail of a follower that moves from a position to `block`, while the index is at `head`. */
  trailTo(block: number, from: TrailStart, head: number): KnownBlock<Hex>[] {
    const final = this.beyondReorg(head);
    const between = this.between(Math.max(from.number, final - 1), block);
    return trailTo(block, { between, from, final });
  }

  /** The trail of a follower that begins after `block`. */
  trailBelow(block: number, head: number): KnownBlock<Hex>[] {
    const base = Math.max(-1, this.beyondReorg(head) - 1);
    return this.trailTo(block, { number: base, hash: null, trail: [] }, head);
  }

  /** The blocks after `after` and before `before`, highest first. */
  private *between(after: number, before: number): Generator<KnownBlock<Hex>> {
    for (const { number, hash } of this.blocks.iterate(after, before))
      yield { number, hash: bytesToHex(hash) };
  }
}
