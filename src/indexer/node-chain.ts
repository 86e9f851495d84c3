/** Reads blocks of the node's chain. */
import { FatalError, UpstreamError } from '../lib/errors.ts';
import type { BlockRef } from '../model/block.ts';
import type { Capabilities } from '../model/index-status.ts';
import type { RpcClient } from '../node/client.ts';
import { fetchHeader } from '../node/methods.ts';

/** The node's newest block for the followed tag. Rejects with UpstreamError. */
export async function fetchNodeHead(
  client: RpcClient,
  tag: Capabilities['headTag'],
  signal: AbortSignal,
): Promise<BlockRef> {
  const head = await fetchHeader(client, tag, signal);
  if (head === null) throw new UpstreamError('inconsistent', `the node has no ${tag} block`);
  return head;
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
    `the index holds chain ${indexed} but the node is on chain ${found}; use another data_dir or another node`,
  );
}
