/**
 * Decides whether the node may change the index. A node of another chain, a node that is behind and a load balancer
 * over several nodes all look like a reorg. The guard tells them apart.
 */

import { UpstreamError } from '../lib/errors.ts';
import { findForkPoint } from '../lib/fork-point.ts';
import type { Hex } from '../lib/hex.ts';
import { settingName } from '../lib/setting-name.ts';
import type { BlockRef } from '../model/block.ts';
import {
  type ChainFinality,
  holdsFinalOnly,
  type ReorgLimits,
  reorgLimit,
  reorgRefusal,
} from '../model/finality.ts';
import type { Capabilities, ChainMismatch } from '../model/index-status.ts';
import type { RpcClient } from '../node/client.ts';
import { fetchChainId, fetchHeaders } from '../node/methods.ts';
import { fetchNodeHash } from './node-chain.ts';

/** The node's chain is not the indexed one, or forks from it too deep. Do not roll back; retry. */
export class ChainMismatchError extends UpstreamError {
  override name = 'ChainMismatchError';
  readonly chain: ChainMismatch;
  constructor(chain: ChainMismatch, message: string) {
    super('inconsistent', message);
    this.chain = chain;
  }
}

interface IndexedStart {
  chainId: number;
  startBlock: number;
}

/** The guard's view of the index; it writes one fact. */
interface GuardedIndex {
  chain(): IndexedStart | null;
  head(): BlockRef | null;
  hashAt(number: number): Hex | null;
  anchors(): {
    genesis: Hex | null;
    firstParent: Hex | null;
    finalized: number | null;
    reorgFrom: number | null;
  };
  setGenesis(hash: Hex): void;
}

export interface GuardOptions {
  headTag: Capabilities['headTag'];
  finality: ChainFinality;
  /** Whether the node's tag is proved. */
  isTagProved(): boolean;
  /** `index.max_reorg`. */
  maxReorg: number;
}

/** A proven rollback: the node's blocks from `to + 1` to `from` form one chain on top of the indexed block `to`. */
export interface Reorg {
  from: number;
  to: number;
}

/** The other way out, named in each error that stops the index. */
const otherDataDir = () => `or start with another ${settingName('data_dir')}`;

export class ChainGuard {
  private readonly index: GuardedIndex;
  private readonly client: RpcClient;
  private readonly options: GuardOptions;
  private readonly signal: AbortSignal;
  /** Whether this node was on the indexed chain before. */
  private wasConfirmed = false;

  constructor(index: GuardedIndex, client: RpcClient, options: GuardOptions, signal: AbortSignal) {
    this.index = index;
    this.client = client;
    this.options = options;
    this.signal = signal;
  }

  /** The index's head; during a reorg, the head before it. */
  get height(): number {
    const head = this.index.head()?.number ?? -1;
    return Math.max(head, this.index.anchors().reorgFrom ?? -1);
  }

  /**
   * Compares the chain id, block 0 and the first indexed block. A missing block proves nothing. Records block 0 once
   * the node agrees on the first block. Throws ChainMismatchError with both hashes, UpstreamError when the node fails.
   */
  async confirmChain(): Promise<void> {
    const chain = this.index.chain();
    if (chain === null) return;
    const difference = await this.findDifference(chain);
    if (difference !== null) throw anotherChain(difference, this.wasConfirmed);
    this.wasConfirmed = true;
  }

  /** How the node's chain differs from the indexed one; null if it does not. */
  private async findDifference({ chainId, startBlock }: IndexedStart): Promise<string | null> {
    const found = await fetchChainId(this.client, this.signal);
    if (found !== chainId) return `its chain id is ${found}, the index has ${chainId}`;
    const first = this.index.hashAt(startBlock);
    const { genesis } = this.index.anchors();
    // One batch, so that a load balancer sends it to one node.
    const [nodeGenesis, nodeFirst] = await fetchHeaders(this.client, [0, startBlock], this.signal);
    if (first !== null && nodeFirst?.hash === first) {
      // The hash covers every block below, so the node's block 0 is right and ours is missing or damaged.
      if (nodeGenesis && nodeGenesis.hash !== genesis) this.index.setGenesis(nodeGenesis.hash);
      return null;
    }
    const isReplaceable = this.isFirstReplaceable(startBlock, nodeFirst?.parentHash);
    return (
      hashDifference(0, genesis, nodeGenesis) ??
      (isReplaceable ? null : hashDifference(startBlock, first, nodeFirst))
    );
  }

  /**
   * The reorg that makes the index agree with the node at and below `from`. `agrees`: they do not differ after all.
   * `behind`: the node's head is below the index's height, so nothing is rolled back. Throws ChainMismatchError for a
   * forbidden reorg, UpstreamError when the node does not prove it.
   */
  async findReorg(from: number, nodeHead: number): Promise<Reorg | 'agrees' | 'behind'> {
    await this.confirmChain();
    const { index, height } = this;
    const head = index.head();
    const start = index.chain()?.startBlock;
    if (head === null || start === undefined || nodeHead < height) return 'behind';
    const differing = Math.min(from, head.number);
    const agree = async (number: number) =>
      index.hashAt(number) === (await fetchNodeHash(this.client, number, this.signal));
    const to = await findForkPoint(differing, start, agree);
    if (to === differing) return 'agrees';
    await this.requireFork(to);
    this.requireWithinBounds(to, height);
    await this.requireBranch(to, height);
    return { from: head.number, to };
  }

  /**
   * Throws UpstreamError unless the fork point is exactly `to`: different nodes may have answered during the search.
   */
  private async requireFork(to: number): Promise<void> {
    const expected = this.parentHashAbove(to);
    const [above] = await fetchHeaders(this.client, [to + 1], this.signal);
    if (!above || above.hash === this.index.hashAt(to + 1) || (expected && above.parentHash !== expected))
      throw inconsistent(to + 1);
  }

  private requireWithinBounds(to: number, height: number): void {
    const limits = this.limits();
    const refusal = reorgRefusal(limits, { to, height });
    if (refusal === null) return;
    const wayOut =
      'if the node is right, stop atlas-node and run "atlas-node verify --repair ' +
      `${to + 1}..${to + 1}", ${otherDataDir()}`;
    if (refusal === 'reorg_below_finalized') {
      const floor = limits.isAllFinal ? 'all blocks of the index' : `blocks up to ${limits.finalized}`;
      throw new ChainMismatchError(
        refusal,
        `the node's chain differs from the index above block ${to}, but ${floor} were final: nothing is ` +
          `rolled back; ${wayOut}`,
      );
    }
    throw new ChainMismatchError(
      refusal,
      `the node's chain differs from the index above block ${to}, ${height - to} blocks deep, and ` +
        `${settingName('index.max_reorg')} is ${limits.maxReorg}: nothing is rolled back; ${wayOut}`,
    );
  }

  private limits(): ReorgLimits {
    const { headTag, finality, isTagProved, maxReorg } = this.options;
    return {
      isAllFinal: holdsFinalOnly(headTag, finality, isTagProved()),
      finalized: this.index.anchors().finalized,
      maxReorg: reorgLimit(finality, maxReorg),
    };
  }

  /**
   * Throws UpstreamError unless the node's blocks above `to` link by parent hash from the indexed block `to` up to the
   * index's height. That is proof whichever nodes answer: no other chain has such blocks.
   */
  private async requireBranch(to: number, height: number): Promise<void> {
    let parent = this.parentHashAbove(to);
    const numbers = Array.from({ length: height - to }, (_, i) => to + 1 + i);
    for (let at = 0; at < numbers.length; at += HEADERS_PER_FETCH) {
      const headers = await fetchHeaders(this.client, numbers.slice(at, at + HEADERS_PER_FETCH), this.signal);
      for (const [i, header] of headers.entries()) {
        if (header === null || header.parentHash !== parent) throw inconsistent(to + 1 + at + i);
        parent = header.hash;
      }
    }
  }

  /** The parent hash that the block above `to` must have; null when unknown. */
  private parentHashAbove(to: number): Hex | null {
    const start = this.index.chain()?.startBlock ?? 0;
    return to < start ? this.index.anchors().firstParent : this.index.hashAt(to);
  }

  /**
   * Whether a reorg may replace the first indexed block, as happens soon after the start. The node's block must have
   * the recorded parent, which no other chain has. Block 0 has no parent.
   */
  private isFirstReplaceable(startBlock: number, nodeParent: Hex | undefined): boolean {
    const { firstParent } = this.index.anchors();
    // That all blocks are final does not matter: `findReorg` refuses for it, with its own reason.
    const limits = { ...this.limits(), isAllFinal: false };
    const isRecent = reorgRefusal(limits, { to: startBlock - 1, height: this.height }) === null;
    return startBlock > 0 && isRecent && firstParent !== null && nodeParent === firstParent;
  }
}

/** Headers per request when proving a branch. */
const HEADERS_PER_FETCH = 64;

function hashDifference(
  number: number,
  indexed: Hex | null,
  found: BlockRef | null | undefined,
): string | null {
  if (indexed === null || !found || found.hash === indexed) return null;
  return `its block ${number} is ${found.hash}, the index has ${indexed}`;
}

/** `wasConfirmed`: the node's address led to the indexed chain before. */
function anotherChain(difference: string, wasConfirmed: boolean): ChainMismatchError {
  const cause = wasConfirmed ? '; the node at this address was replaced while the daemon ran' : '';
  return new ChainMismatchError(
    'another_chain',
    `the node is on another chain: ${difference}${cause}; nothing is rolled back; set ` +
      `${settingName('node_http')} to a node of the indexed chain, ${otherDataDir()}`,
  );
}

function inconsistent(number: number): UpstreamError {
  return new UpstreamError(
    'inconsistent',
    `the node's block ${number} is not a child of its block ${number - 1}: its chain is changing, or ` +
      'several nodes answer',
  );
}
