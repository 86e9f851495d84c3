/** Whether the index has internal transfers, in words. */
import type { IndexStatus, UntracedBlocks } from '../types.ts';

/** Whether the index has the internal transfers of all its blocks and will have new ones, else why not; null if unknown. */
export function internalTransfers({
  capabilities,
  untraced,
}: Pick<IndexStatus, 'capabilities' | 'untraced'>): { complete: boolean | null; reason: string | null } {
  const missing = untraced ? untracedText(untraced) : null;
  if (capabilities !== null && capabilities.traces === null) {
    const reason = capabilities.tracesReason ?? 'the node offers no traces';
    return { complete: false, reason: missing === null ? reason : `${reason}; ${missing}` };
  }
  if (untraced) return { complete: false, reason: `${missing}; ${untracedAdvice(untraced)}` };
  return { complete: capabilities === null ? null : true, reason: null };
}

/** Such as "blocks 20 to 39 were indexed without traces". */
export function untracedText({ first, last, blocks }: UntracedBlocks): string {
  if (first === last) return `block ${first} was indexed without traces`;
  const some = blocks < last - first + 1 ? `${blocks} of the ` : '';
  return `${some}blocks ${first} to ${last} were indexed without traces`;
}

/** Advice on how to add their internal transfers. */
export function untracedAdvice({ first, last }: UntracedBlocks): string {
  return `"atlas-node verify --repair ${first}..${last}" with the daemon stopped brings their internal transfers in`;
}
