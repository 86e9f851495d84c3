/** Finds out whether a chain counts time in milliseconds. */
import { isInMilliseconds, withoutFraction } from '../../decode/block-time.ts';
import { spelledNumber } from '../../lib/hex.ts';
import { isObject } from '../../lib/text.ts';
import type { RpcClient } from '../../node/client.ts';
import { fetchBlockNumber, headerCall } from '../../node/methods.ts';

/**
 * Whether the blocks at the head, in the middle and after the first one are all in milliseconds. A block that the node
 * does not give proves nothing, and a single one is not enough. Rejects with UpstreamError.
 */
export async function countsMilliseconds(client: RpcClient, signal?: AbortSignal): Promise<boolean> {
  const head = await fetchBlockNumber(client, signal);
  const numbers = [...new Set([head, Math.ceil(head / 2), Math.min(1, head)])];
  const replies = await client.batch(numbers.map(headerCall), signal);
  const times = replies.flatMap((reply) =>
    'result' in reply && isObject(reply.result)
      ? [spelledNumber(withoutFraction(reply.result['timestamp']))]
      : [],
  );
  return times.length >= Math.min(2, numbers.length) && times.every(isInMilliseconds);
}
