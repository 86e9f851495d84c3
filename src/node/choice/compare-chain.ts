/** Compares a node's chain with the indexed one, by block hashes. */
import { UpstreamError } from '../../lib/errors.ts';
import type { Hex } from '../../lib/hex.ts';
import type { BlockRef } from '../../model/block.ts';
import { isFinal } from '../../model/finality.ts';
import type { RpcClient } from '../client.ts';
import { type BlockHeader, fetchHeaders } from '../methods.ts';
import type { ChainRelation } from './choose-node.ts';

/** The identity of the indexed chain. Fields not known yet are null. */
export interface IndexedChain {
  chainId: number;
  startBlock: number;
  genesis: Hex | null;
  /** Highest final block. */
  finalized: number | null;
  head: BlockRef | null;
  hashAt(number: number): Hex | null;
}

export interface Comparison {
  relation: ChainRelation;
  /** How the chains differ; null when they do not. */
  reason: string | null;
}

export const SAME: Comparison = { relation: 'same', reason: null };

/** The deepest fork, in blocks, that still counts as a reorg which one of two nodes has not seen yet. */
export const SHALLOW_BLOCKS = 3;

export function compareChainIds(indexed: number, found: number): Comparison {
  if (indexed === found) return SAME;
  return { relation: 'another_chain', reason: `its chain id is ${found}, the indexed one is ${indexed}` };
}

/**
 * Compares block 0 and the first indexed block, then the highest block that both have. A node that differs there, but
 * not SHALLOW_BLOCKS below, is in a reorg. Blocks 0 and 1 may be missing, which proves nothing. Rejects with
 * UpstreamError when the node lacks a recent block.
 */
export async function compareChain(
  client: Pick<RpcClient, 'batch'>,
  indexed: IndexedChain,
  nodeHead: number,
  signal?: AbortSignal,
): Promise<Comparison> {
  const { startBlock, genesis, finalized, head } = indexed;
  const common = Math.min(head?.number ?? -1, nodeHead);
  if (common < startBlock) {
    const [first] = await fetchHeaders(client, [0], signal);
    return compareAt(0, genesis, first, 'another_chain');
  }
  const below = isFinal(common, finalized) ? common : Math.max(startBlock, common - SHALLOW_BLOCKS);
  // One batch, so that a load balancer sends it to one node.
  const [first, start, deep, recent] = await fetchHeaders(client, [0, startBlock, below, common], signal);
  const identity = [
    compareAt(0, genesis, first, 'another_chain'),
    compareAt(startBlock, indexed.hashAt(startBlock), start, 'another_chain'),
  ].find(({ relation }) => relation !== 'same');
  if (identity !== undefined) return identity;
  if (!recent || !deep) throw new UpstreamError('inconsistent', `the node has no block ${common} at present`);
  if (recent.hash === indexed.hashAt(common)) return SAME;
  return compareAt(below, indexed.hashAt(below), deep, 'another_fork');
}

function compareAt(
  number: number,
  indexed: Hex | null,
  found: BlockHeader | null | undefined,
  relation: ChainRelation,
): Comparison {
  if (indexed === null || !found || found.hash === indexed) return SAME;
  return { relation, reason: `its block ${number} is ${found.hash}, the indexed one is ${indexed}` };
}
