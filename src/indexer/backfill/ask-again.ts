/**
 * Several nodes behind one address may be at different heights, so a request may reach one that lacks the block. A new
 * request for only the missing parts soon reaches a node that has them; all parts of a step rarely succeed at once.
 */
import { pause } from '../../lib/async.ts';
import type { RpcReply } from '../../node/client.ts';
import { isMissingData } from '../../node/node-errors.ts';

/** Attempts for each part, and the pause before the second one, milliseconds; longer before each later one. */
const MAX_TRIES = 5;
const AGAIN_MS = 20;
/** Longer ranges are not retried: near the head ranges are short, and elsewhere a missing part stays missing. */
const MAX_AGAIN = 32;

export function isMissing(reply: RpcReply): boolean {
  return 'error' in reply ? isMissingData(reply.error) : reply.result === null;
}

/**
 * Replaces the missing replies by those to further requests. `ask` sends the calls at these positions; `lacks` says
 * which replies are missing. A probe asks only once.
 */
export async function askAgain(
  replies: RpcReply[],
  ask: (positions: readonly number[]) => Promise<RpcReply[]>,
  lacks: (reply: RpcReply, position: number) => boolean = isMissing,
  signal?: AbortSignal,
  isProbe = false,
): Promise<RpcReply[]> {
  for (let tries = 1; !isProbe && tries < MAX_TRIES && replies.length <= MAX_AGAIN; tries++) {
    const missing = replies.flatMap((reply, i) => (lacks(reply, i) ? [i] : []));
    if (missing.length === 0) break;
    await pause(AGAIN_MS * tries, signal);
    const again = await ask(missing);
    for (const [at, i] of missing.entries()) replies[i] = again[at]!;
  }
  return replies;
}
