/** Headers of the node's blocks, asked for through the gateway. */
import { UpstreamError } from '../errors.ts';
import { type BlockHeader, readBlockHeader } from '../upstream/block-header.ts';
import type { Answer, RequestFn } from './call.ts';
import { isResult, resultOf } from './payload.ts';

const METHOD = 'eth_getBlockByNumber';

/** Asks for the block of a tag or a quantity. */
export function askBlock(ask: RequestFn, id: string, signal?: AbortSignal): Promise<Answer> {
  return ask(METHOD, [id, false], signal);
}

/** The header in the answer of `askBlock`; null when that is null or an error. Throws UpstreamError `malformed`. */
export function headerIn({ payload }: Answer): BlockHeader | null {
  const block = resultOf(payload) ?? null;
  return block === null ? null : readBlockHeader(block, METHOD);
}

/** The header of a block, null when the node does not have it now. Rejects with UpstreamError when the node refuses. */
export async function askHeader(
  ask: RequestFn,
  id: string,
  signal?: AbortSignal,
): Promise<BlockHeader | null> {
  const answer = await askBlock(ask, id, signal);
  if (!isResult(answer.payload)) {
    throw new UpstreamError('connection', `${METHOD}: the node does not give block ${id}`);
  }
  return headerIn(answer);
}
