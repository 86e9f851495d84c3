/** Heights at which a chain has no block: Filecoin's null rounds. An index holds a block at each height. */
import { UpstreamError } from '../../lib/errors.ts';
import type { RpcClient } from '../../node/client.ts';
import { fetchHeaders } from '../../node/methods.ts';

/** The chain has no block at this height. */
export class SkippedHeight extends UpstreamError {
  override name = 'SkippedHeight';

  constructor(number: number) {
    super(
      'inconsistent',
      `the chain has no block ${number}: block ${number + 1} is the child of block ${number - 1}; an index ` +
        'needs a block at each height, so it cannot go on',
    );
  }
}

/**
 * What to say of a block that the node does not give: that there is none, where the next block is the child of the one
 * before; else the error. No words of the node prove it: a node that lacks a block for now may use the same.
 */
export async function whyMissing(
  client: Pick<RpcClient, 'batch'>,
  number: number,
  error: UpstreamError,
  signal?: AbortSignal,
): Promise<UpstreamError> {
  if (number === 0) return error;
  try {
    const [before, after] = await fetchHeaders(client, [number - 1, number + 1], signal);
    return before && after && after.parentHash === before.hash ? new SkippedHeight(number) : error;
  } catch (second) {
    if (!(second instanceof UpstreamError)) throw second;
    return error;
  }
}
