/** The log warning at start when some blocks have traces and others do not. */
import { untracedAdvice, untracedText } from '../lib/internal-transfers.ts';
import type { Capabilities, IndexStatus } from '../types.ts';

/** The warning when an index goes on with what the node offers now; null when internal transfers are not affected. */
export function tracesWarning(
  { head, startBlock, untraced }: Pick<IndexStatus, 'head' | 'startBlock' | 'untraced'>,
  { traces, tracesReason }: Capabilities,
): { msg: string; fields: Record<string, unknown> } | null {
  if (head === null || startBlock === null) return null;
  if (traces !== null) {
    if (untraced === null) return null;
    return {
      msg: 'internal transfers of some blocks are missing',
      fields: { reason: untracedText(untraced), advice: untracedAdvice(untraced) },
    };
  }
  if (untraced?.blocks === head.number - startBlock + 1) return null;
  return {
    msg: 'the index goes on without traces: internal transfers of new blocks will be missing',
    fields: { from: head.number + 1, reason: tracesReason },
  };
}
