import type { ChainBlock } from './blocks/block.ts';
import type { ForkOptions } from './simulation/simulation.ts';
import type { ReplayStats } from './stats.ts';

/** A test's controls over a running node. */
export interface ReplayControls {
  /**
   * Makes the last block at or below a number the head, announcing every block on the way forward. Returns the head.
   */
  setHead(number: number): number;
  /** Advances the head by `count` blocks (default 1), at most to the last one. Returns the head. */
  mine(count?: number): number;
  /** Replaces the chain from a block on: see `Simulation.fork`. */
  fork(from: number, newBlocks?: Iterable<ChainBlock>, options?: ForkOptions): ChainBlock[];
  /** Delays each answer by this; a batch is one answer. */
  setLatency(milliseconds: number): void;
  stats(): ReplayStats;
}

export interface ReplayNode extends ReplayControls {
  url: string;
  wsUrl: string;
  chainId: number;
  close(): Promise<void>;
}
