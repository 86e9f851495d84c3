/** Logs blocks that are indexed without some of their traces. */
import { RepeatLimit } from '../lib/limits.ts';
import type { ThreadLog } from '../log/logger.ts';

/** Shortest time between log lines about blocks without traces, milliseconds. */
const GAP_LOG_MS = 60_000;

/** Logs the gaps of a reason once a minute. */
export function gapLog(log: ThreadLog): (block: number, reason: string) => void {
  const limit = new RepeatLimit(GAP_LOG_MS);
  let unlogged = 0;
  return (block, reason) => {
    unlogged++;
    if (!limit.allows('gap')) return;
    const advice = 'atlas-node status says how many blocks lack internal transfers, and how to add them';
    log.warn({ block, reason, blocks: unlogged, advice }, 'blocks are indexed without some of their traces');
    unlogged = 0;
  };
}
