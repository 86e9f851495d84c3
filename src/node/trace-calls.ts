/** Sends trace calls in the form that the node takes. */
import type { Projection } from '../lib/projection.ts';
import { isObject } from '../lib/text.ts';
import type { RpcCall, RpcClient, RpcReply } from './client.ts';
import { isRefusedTimeout } from './node-errors.ts';

/**
 * Replies as those of `RpcClient.batch`, from the node for traces. A node that refuses the tracer's timeout is asked
 * without it from then on.
 */
export async function batchTraces(
  { tracing }: RpcClient,
  calls: readonly RpcCall[],
  signal?: AbortSignal,
  projection?: Projection,
): Promise<RpcReply[]> {
  const sendWithout = () => tracing.batch(calls.map(withoutTimeout), signal, projection);
  if (tracing.refusesTracerTimeout) return sendWithout();
  const replies = await tracing.batch(calls, signal, projection);
  const isRefused = replies.some((reply) => 'error' in reply && isRefusedTimeout(reply.error));
  if (!isRefused) return replies;
  tracing.refusesTracerTimeout = true;
  return sendWithout();
}

function withoutTimeout({ method, params: [about, options] }: RpcCall): RpcCall {
  if (!isObject(options)) return { method, params: [about] };
  const { timeout: _, ...others } = options;
  return { method, params: [about, others] };
}
