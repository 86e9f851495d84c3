/** Why nodes refuse an `eth_getLogs`. They have no codes for it, so their words have to be read. */
import type { RpcError } from '../errors.ts';

const TOO_MUCH = /too (large|wide|big|many|long)|exceed|limited|limit of|maximum|\bmax\b|more than/i;
/** The number of blocks: geth, reth, Monad, Erigon, hosted nodes. */
const OF_BLOCKS = /\brange|\bblocks\b/i;
/** The number of logs, or the bytes of the answer. */
const OF_RESULTS = /\bresults?\b|\blogs?\b|\bsize\b|\bresponse\b/i;

/**
 * `wide` when a narrower range would be taken, `large` when this one has too many logs: again a narrower one helps,
 * but others of this width may be answered. Null for every other error.
 */
export function refusalOf({ message }: RpcError): 'wide' | 'large' | null {
  if (!TOO_MUCH.test(message)) return null;
  if (OF_RESULTS.test(message)) return 'large';
  return OF_BLOCKS.test(message) ? 'wide' : null;
}
