/** What an index that begins late lacks, beside the figures that lack it. */
import { BlockLink } from '../ui/address.tsx';

/** Whether an index begins after the chain's first blocks. The genesis block has no transactions. */
export function isLate(startBlock: number): boolean {
  return startBlock > 1;
}

/** Nothing where the index has the whole chain. */
export function Coverage({ startBlock }: { startBlock: number }) {
  if (!isLate(startBlock)) return null;
  return (
    <p class="small soft">
      Indexed from block <BlockLink block={startBlock} /> on: what happened before is in no figure of the
      index.
    </p>
  );
}
