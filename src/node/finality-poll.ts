/** Asks a node for the blocks that show what is final. */
import { UpstreamError } from '../lib/errors.ts';
import type { BlockRef } from '../model/block.ts';
import {
  type BlockId,
  blocksToPoll,
  FINAL_TAG,
  type FinalityPoll,
  type FinalityRule,
  pollFrom,
} from '../model/finality.ts';
import type { RpcClient, RpcReply } from './client.ts';
import { headerCall, readBlockHeader } from './methods.ts';

/**
 * `heights`: further blocks to ask for. Rejects with UpstreamError when the node fails; a node that refuses the tag has
 * no final block.
 */
export async function pollFinality(
  client: Pick<RpcClient, 'batch' | 'batchSize'>,
  rule: FinalityRule,
  heights: readonly number[],
  signal?: AbortSignal,
): Promise<FinalityPoll> {
  const ids = blocksToPoll(rule, heights);
  // One batch, so that a load balancer sends it to one node.
  const isOneAnswer = () => client.batchSize >= ids.length;
  const wasOneAnswer = isOneAnswer();
  const replies = await client.batch(ids.map(headerCall), signal);
  return pollFrom(
    rule,
    replies.map((reply, i) => blockIn(reply, ids[i])),
    wasOneAnswer && isOneAnswer(), // a refused batch was sent again in parts
  );
}

function blockIn(reply: RpcReply, id: BlockId | undefined): BlockRef | null {
  if ('error' in reply) {
    if (id === FINAL_TAG && reply.error.reason === 'rpc') return null;
    throw reply.error;
  }
  if (reply.result === null) return null;
  const { method } = headerCall('latest');
  const block = readBlockHeader(reply.result, method);
  if (typeof id !== 'number' || id === block.number) return block;
  throw new UpstreamError('inconsistent', `${method}: asked for block ${id}, got ${block.number}`);
}
