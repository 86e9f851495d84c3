/** How far the index is, and why it stands still. */
import type { Status } from '../client/answers.ts';
import { duration, grouped } from '../ui/format.ts';

type Progress = Pick<Status, 'phase' | 'head' | 'nodeHead' | 'etaSeconds' | 'reason' | 'staleReason'>;

/** Why something may be missing yet, as a sentence; null while the index follows the chain. */
export function unfinishedText({
  phase,
  head,
  nodeHead,
  etaSeconds,
  reason,
  staleReason,
}: Progress): string | null {
  if (phase === 'following')
    return staleReason === null ? null : `${staleReason.charAt(0).toUpperCase()}${staleReason.slice(1)}.`;
  const why = reason === null ? '.' : `: ${reason}.`;
  if (head === null) return `No block is indexed yet${why}`;
  const at = `block ${grouped(head.number)}`;
  const end = nodeHead !== null && nodeHead > head.number ? ` of ${grouped(nodeHead)}` : '';
  if (phase === 'starting' && reason === null)
    return `The server has just started: the index ends at ${at} until it has found its node.`;
  if (phase !== 'backfilling' || reason !== null)
    return `The index ends at ${at}${end} and does not grow at present${why}`;
  const left = etaSeconds === null ? '' : `, ${duration(etaSeconds)} to go`;
  return `The index is still catching up: it is at ${at}${end}${left}.`;
}
