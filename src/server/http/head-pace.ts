/** Compares the pace of the chain's timestamps with that of time itself, to tell a stopped chain from a wrong clock. */
import type { IndexStatus } from '../../model/index-status.ts';

/** Heads older than this say nothing about the present, milliseconds. */
const WINDOW_MS = 180_000;

/** What a judgement needs at least: this many heads, over this time in milliseconds. */
const MIN_HEADS = 4;
const MIN_SPAN_MS = 10_000;

/** How far both paces may differ: block times are whole seconds, and blocks arrive unevenly. */
const TOLERANCE_SECONDS = 4;
const TOLERANCE_SHARE = 0.2;

interface SeenHead {
  /** By `performance.now()`, which nobody can set. */
  at: number;
  /** Unix seconds of the block. */
  timestamp: number;
}

export class HeadPace {
  private heads: SeenHead[] = [];

  /** Call about once a second. */
  observe({ phase, headTimestamp }: Pick<IndexStatus, 'phase' | 'headTimestamp'>, now: number): void {
    this.heads = this.heads.filter(({ at }) => now - at <= WINDOW_MS);
    // Blocks of a backfill are old for another reason.
    if (phase !== 'following' || headTimestamp === null) this.heads = [];
    else if (this.heads.at(-1)?.timestamp !== headTimestamp)
      this.heads.push({ at: now, timestamp: headTimestamp });
  }

  /** Whether new blocks keep arriving, each later than the one before by as much as it says. */
  get keepsTime(): boolean {
    const [first, last] = [this.heads[0], this.heads.at(-1)];
    if (first === undefined || last === undefined || this.heads.length < MIN_HEADS) return false;
    if (last.at - first.at < MIN_SPAN_MS) return false;
    const seconds = (last.at - first.at) / 1000;
    const difference = Math.abs(last.timestamp - first.timestamp - seconds);
    return difference <= Math.max(TOLERANCE_SECONDS, TOLERANCE_SHARE * seconds);
  }
}
