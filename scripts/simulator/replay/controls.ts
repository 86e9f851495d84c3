import type { ChainBlock } from './blocks/block.ts';
import type { ForkOptions } from './simulation/simulation.ts';
import type { ReplayStats } from './stats.ts';

/** What a test can do to a running node. */
export interface ReplayControls {
  /** Makes the last block at or below a number the head; every block on the way forward is announced. Returns the head. */
  setHead(number: number): number;
  /** Moves the head on by `count` blocks (1), at most to the last one. Returns the head. */
  mine(count?: number): number;
  /** Replaces the chain from a block on: see `Simulation.fork`. */
  fork(from: number, newBlocks?: Iterable<ChainBlock>, options?: ForkOptions): ChainBlock[];
  /** Waits this long before each answer; a batch is one answer. */
  setLatency(milliseconds: number): void;
  stats(): ReplayStats;
}

export interface ReplayNode extends ReplayControls {
  url: string;
  wsUrl: string;
  chainId: number;
  close(): Promise<void>;
}
