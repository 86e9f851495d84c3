/** The transfers of withdrawn blocks, for a client that saw them before it reconnected. */
import { type BatchContext, BatchSource } from './batch-source.ts';
import type { RecentBlock } from './recent-blocks.ts';
import { TransferEvent } from './transfer-event.ts';

/** `branch` newest first, and so are the transfers. */
export function* withdrawnTransfers(
  branch: readonly RecentBlock[],
  context: BatchContext,
): Generator<TransferEvent, void, void> {
  const sources: BatchSource[] = [];
  for (const { batch, firstId } of branch.toReversed())
    sources.unshift(new BatchSource(batch, firstId, context, sources[0] ?? null));
  for (const [i, block] of branch.entries()) yield* newestFirst(block, sources[i]!);
}

function* newestFirst({ batch, from, end, number }: RecentBlock, source: BatchSource) {
  const at = batch.number.indexOf(number);
  for (let i = end - 1; i >= from; i--) {
    const eventIndex = i - batch.tx.indexOf(batch.tx[i]!, from);
    yield TransferEvent.from(source, source.rowAt(i, at, eventIndex, source.addressesAt(i)), true);
  }
}
