/** Asks a node for the blocks that show what is final. */
import { UpstreamError } from '../lib/errors.ts';
import type { BlockRef } from '../model/block.ts';
import { type BlockId, blocksToPoll, type FinalityPoll, pollFrom } from '../model/finality.ts';
import type { RpcClient, RpcReply } from './client.ts';
import { headerCall, readBlockHeader } from './methods.ts';

/** `known` is a block that the node must still have. Rejects with UpstreamError when the node refuses one of them. */
export async function pollFinality(
  client: Pick<RpcClient, 'batch' | 'batchSize'>,
  known: BlockRef | null,
  signal?: AbortSignal,
): Promise<FinalityPoll> {
  const ids = blocksToPoll(known);
  // One batch, so that a load balancer sends it to one node.
  const isOneAnswer = client.batchSize >= ids.length;
  const replies = await client.batch(ids.map(headerCall), signal);
  return pollFrom(
    replies.map((reply, i) => blockIn(reply, ids[i])),
    isOneAnswer,
  );
}

function blockIn(reply: RpcReply, id: BlockId | undefined): BlockRef | null {
  if ('error' in reply) throw reply.error;
  if (reply.result === null) return null;
  const { method } = headerCall('latest');
  const block = readBlockHeader(reply.result, method);
  if (typeof id !== 'number' || id === block.number) return block;
  throw new UpstreamError('inconsistent', `${method}: asked for block ${id}, got ${block.number}`);
}
