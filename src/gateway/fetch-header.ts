/** Fetches block headers through the gateway. */
import { UpstreamError } from '../lib/errors.ts';
import { type BlockHeader, readBlockHeader } from '../node/block-header.ts';
import type { CallResult, RequestFn } from './call.ts';
import { isResult, resultOf } from './response-tail.ts';

const METHOD = 'eth_getBlockByNumber';

/** Requests the block of a tag or quantity. */
export function fetchBlockThrough(request: RequestFn, id: string, signal?: AbortSignal): Promise<CallResult> {
  return request(METHOD, [id, false], signal);
}

/** The header in the answer of `fetchBlockThrough`; null for null or an error. Throws UpstreamError `malformed`. */
export function headerIn({ tail }: CallResult): BlockHeader | null {
  const block = resultOf(tail) ?? null;
  return block === null ? null : readBlockHeader(block, METHOD);
}

/** The header of a block, null when the node does not have it now. Rejects with UpstreamError when the node refuses. */
export async function fetchHeaderThrough(
  request: RequestFn,
  id: string,
  signal?: AbortSignal,
): Promise<BlockHeader | null> {
  const answer = await fetchBlockThrough(request, id, signal);
  if (!isResult(answer.tail)) {
    throw new UpstreamError('connection', `${METHOD}: the node refuses block ${id}`);
  }
  return headerIn(answer);
}
