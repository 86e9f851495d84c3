/** What the index lacks: of every page above it, and before its first block beside the figures that lack it. */
import { BlockLink } from '../ui/address.tsx';
import { useStatus } from './chain-state.tsx';
import { missingTexts } from './missing.ts';

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

/** What the figures of every page lack at present; nothing while the index has all of its blocks. */
export function Missing() {
  const status = useStatus();
  const texts = status ? missingTexts(status) : [];
  if (!status || texts.length === 0) return null;
  const isBad = status.phase === 'paused' || status.staleReason !== null || status.readFailure !== null;
  return <p class={`notice small break ${isBad ? 'bad' : 'wait'}`}>{texts.join(' ')}</p>;
}

/** Whether the index has all transfers by contracts. */
export function useHasInternal(): boolean {
  return useStatus()?.internalTransfers === true;
}

/** The note of a list of all transfers of something. */
export function useOrderNote(): string {
  return `In execution order${useHasInternal() ? ', including internal transfers' : ''}.`;
}
