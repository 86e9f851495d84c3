/**
 * Sends calls whose answers are stored permanently in one batch with the header of an indexed block. A node of another
 * chain, or a lagging one, would answer them too; behind a load balancer that may happen at any time.
 */
import { UpstreamError } from '../lib/errors.ts';
import type { BlockRef } from '../model/block.ts';
import type { RpcCall, RpcClient, RpcReply } from '../node/client.ts';
import { headerCall, readBlockHeader } from '../node/methods.ts';

/** The answering node does not have the indexed block. Retry later, or at the new head. */
export class AnchorMismatchError extends UpstreamError {
  constructor(message: string) {
    super('inconsistent', message);
  }
}

/** Rejects with AnchorMismatchError unless the node has `anchor`, and with UpstreamError when it does not answer. */
export async function batchAt(
  client: Pick<RpcClient, 'batch'>,
  anchor: BlockRef,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<RpcReply[]> {
  const { number, hash } = anchor;
  const header = headerCall(number);
  const replies = await client.batch([...calls, header], signal);
  const last = replies.pop();
  if (last !== undefined && 'error' in last) throw last.error;
  const found = last?.result ? readBlockHeader(last.result, header.method).hash : 'missing';
  if (found !== hash) throw new AnchorMismatchError(`block ${number} of the node is ${found}, not ${hash}`);
  return replies;
}
