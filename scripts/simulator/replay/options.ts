import type { ChainBlock } from './blocks/block.ts';

/** What the replay node serves and how it behaves. */
export interface ReplayOptions {
  /** Recorded exchanges, one JSON object per line, plain or `.gz`. Several files form one chain. */
  files?: readonly string[];
  /** Blocks to serve in addition to those of the files, read once at the start. */
  chain?: Iterable<ChainBlock> | AsyncIterable<ChainBlock>;
  /** Overrides the recorded chain id; without either it is 1. */
  chainId?: number;
  host?: string;
  /** 0 for a free port. */
  port?: number;
  /** First head: a block number, or, when below the first block, the n-th block. Default: the last block. */
  head?: number;
  /** Interval at which the head advances by one block, milliseconds, starting at the first block. 0 = never. */
  blockTimeMs?: number;
  /** Delay of each answer. A batch waits once. */
  latencyMs?: number;
  /** Upper bound of a random extra delay. */
  jitterMs?: number;
  /** How many blocks `finalized` is behind the head; `safe` is one behind. */
  finalizedLag?: number;
  /** `eth_getLogs` refuses a wider range. */
  maxLogRange?: number;
  /** Most calls in one batch. */
  maxBatch?: number;
  /** Most bytes in one answer; 0 = no limit. */
  maxResponseBytes?: number;
  /** False: the trace methods answer "Method not supported". */
  traces?: boolean;
  /** False: `eth_getBlockReceipts` answers "Method not found". */
  blockReceipts?: boolean;
  /** Serve the last `reorgDepth` of every `reorgEvery` blocks as a fork until the chain moves past them. 0 = never. */
  reorgEvery?: number;
  reorgDepth?: number;
  /** Fraction of the calls answered with -32603 "overloaded, try again later". */
  errorRate?: number;
  /** Seed of jitter and errors. */
  seed?: number;
  /** Renumber all blocks consecutively from here, and link them. */
  rechain?: number;
  /** Most bytes of recorded text kept in memory. The rest is compressed in a temporary file. */
  memoryBytes?: number;
  /** Answer to `web3_clientVersion`. */
  clientVersion?: string;
}

/** All options but the source of the chain, with the limits of Monad's RPC server as defaults. */
export type ReplaySettings = Required<
  Omit<ReplayOptions, 'files' | 'chain' | 'chainId' | 'head' | 'rechain'>
>;

export const REPLAY_DEFAULTS: ReplaySettings = {
  host: '127.0.0.1',
  port: 0,
  blockTimeMs: 0,
  latencyMs: 0,
  jitterMs: 0,
  finalizedLag: 2,
  maxLogRange: 1000,
  maxBatch: 1000,
  maxResponseBytes: 25_000_000,
  traces: true,
  blockReceipts: true,
  reorgEvery: 0,
  reorgDepth: 1,
  errorRate: 0,
  seed: 1,
  memoryBytes: 1500 * 1024 * 1024,
  clientVersion: 'replay-node/1',
};
