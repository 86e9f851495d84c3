/** The node's chain, as it is followed. */
import { UpstreamError } from '../errors.ts';
import type { BlockRef, Capabilities } from '../types.ts';
import type { RpcClient } from '../upstream/client.ts';
import { header } from '../upstream/methods.ts';

/** The newest block that is followed. Rejects with UpstreamError. */
export async function nodeHead(
  client: RpcClient,
  tag: Capabilities['headTag'],
  signal: AbortSignal,
): Promise<BlockRef> {
  const head = await header(client, tag, signal);
  if (head === null) throw new UpstreamError('inconsistent', `the node has no ${tag} block`);
  return head;
}

/** Hash of the node's block at a height at present. Rejects with UpstreamError. */
export async function nodeHashAt(
  client: RpcClient,
  number: number,
  signal: AbortSignal,
): Promise<BlockRef['hash']> {
  const at = await header(client, number, signal);
  if (at === null) throw new UpstreamError('inconsistent', `the node has no block ${number} at present`);
  return at.hash;
}
