/** Reads blocks of the node's chain. */

import { FatalError, UpstreamError } from '../lib/errors.ts';
import { settingName } from '../lib/setting-name.ts';
import type { BlockRef } from '../model/block.ts';
import { type FinalityRule, finalOfIndex, followedHead } from '../model/finality.ts';
import type { Capabilities } from '../model/index-status.ts';
import type { RpcClient } from '../node/client.ts';
import { fetchHeader } from '../node/methods.ts';

/** Which head an index follows. */
export interface FollowedHead {
  headTag: Capabilities['headTag'];
  /** The chain's rule of finality. */
  rule: FinalityRule;
  /** `index.max_reorg`. */
  maxReorg: number;
}

/** The node's newest block for the followed head. Rejects with UpstreamError. */
export async function fetchNodeHead(
  client: RpcClient,
  { headTag, rule, maxReorg }: FollowedHead,
  signal: AbortSignal,
): Promise<BlockRef> {
  const { tag, isBelow } = followedHead(headTag, rule);
  const head = await fetchHeader(client, tag, signal);
  if (head === null) throw new UpstreamError('inconsistent', `the node has no ${tag} block`);
  if (!isBelow) return head;
  const height = finalOfIndex({ anchor: null, head: head.number, maxReorg });
  if (height === null)
    throw new UpstreamError(
      'inconsistent',
      `the node's head is block ${head.number}: none of its blocks is final before ${maxReorg} ` +
        `(${settingName('index.max_reorg')}) are above`,
    );
  return fetchNodeBlock(client, height, signal);
}

/** The node's current block at a height. Rejects with UpstreamError. */
export async function fetchNodeBlock(
  client: RpcClient,
  number: number,
  signal: AbortSignal,
): Promise<BlockRef> {
  const block = await fetchHeader(client, number, signal);
  if (block === null) throw new UpstreamError('inconsistent', `the node has no block ${number} at present`);
  return block;
}

/** The hash of the node's current block at a height. Rejects with UpstreamError. */
export async function fetchNodeHash(
  client: RpcClient,
  number: number,
  signal: AbortSignal,
): Promise<BlockRef['hash']> {
  return (await fetchNodeBlock(client, number, signal)).hash;
}

/** The error for a node on a chain other than the indexed one. */
export function wrongChainError(indexed: number, found: number): FatalError {
  return new FatalError(
    `the index holds chain ${indexed} but the node is on chain ${found}; use another ` +
      `${settingName('data_dir')} or another ${settingName('node_http')}`,
  );
}
