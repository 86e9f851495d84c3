/** What the index still lacks, for pages that found nothing in it. */
import type { Status } from '../client/answers.ts';
import { duration, grouped } from '../ui/format.ts';

/** Why something may be missing yet, as a sentence; null while the index follows the chain. */
export function unfinishedText({
  phase,
  head,
  nodeHead,
  etaSeconds,
}: Pick<Status, 'phase' | 'head' | 'nodeHead' | 'etaSeconds'>): string | null {
  if (phase === 'following') return null;
  if (head === null) return 'No block is indexed yet.';
  const at = `block ${grouped(head.number)}`;
  const end = nodeHead !== null && nodeHead > head.number ? ` of ${grouped(nodeHead)}` : '';
  if (phase !== 'backfilling') return `The index ends at ${at}${end} and does not grow at present.`;
  const left = etaSeconds === null ? '' : `, ${duration(etaSeconds)} to go`;
  return `The index is still catching up: it is at ${at}${end}${left}.`;
}
