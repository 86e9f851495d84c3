/** Why nodes refuse an `eth_getLogs`. There are no error codes for it, so the message has to be matched. */
import type { Answer } from '../call.ts';
import { errorOf, isResult } from '../payload.ts';

const TOO_MUCH = /too (large|wide|big|many|long)|exceed|limited|limit of|maximum|\bmax\b|more than/i;
/** The number of blocks: geth, reth, Monad, Erigon, hosted nodes. */
const OF_BLOCKS = /\brange|\bblocks\b/i;
/** The number of logs, or the bytes of the answer. */
const OF_RESULTS = /\bresults?\b|\blogs?\b|\bsize\b|\bresponse\b/i;

/**
 * `wide` when the range has too many blocks, `large` when it has too many logs: a narrower range helps in both cases,
 * but with `large` other ranges of this width may work. Null for every other answer.
 */
export function classifyRefusal({ payload, status }: Answer): 'wide' | 'large' | null {
  if (status !== 200 || isResult(payload)) return null;
  const { message } = errorOf(payload);
  if (!TOO_MUCH.test(message)) return null;
  if (OF_RESULTS.test(message)) return 'large';
  return OF_BLOCKS.test(message) ? 'wide' : null;
}
