/** Matches the transfers of blocks about to be committed with their subscribers. */

import { bytesToHex, type Hex } from '../../lib/hex.ts';
import type { CommittingBlocks } from '../../model/block-batch.ts';
import { type BatchContext, BatchSource } from './batch-source.ts';
import type { SubscriptionIndex } from './subscription-index.ts';
import { TransferEvent } from './transfer-event.ts';
import type { TransferSubscription } from './transfer-subscription.ts';

/** A transfer with its candidate subscribers, reduced to those that want it. */
interface EventMatch {
  event: TransferEvent;
  subscribers: readonly TransferSubscription[];
}

interface MatchContext extends BatchContext {
  subscribers: SubscriptionIndex;
}

export class PreCommitMatches {
  /** Hash of the last block. */
  readonly hash: Hex;
  /** Ids of the first transfer not yet pushed, and of the last one. */
  next: number;
  readonly last: number;
  private readonly blocks: CommittingBlocks;
  private readonly context: MatchContext;
  private readonly matches: Iterator<EventMatch | null, void, void>;
  private readonly prepared: EventMatch[] = [];

  constructor(blocks: CommittingBlocks, context: MatchContext) {
    const { batches, firstTransfer } = blocks;
    this.blocks = blocks;
    this.context = context;
    this.hash = bytesToHex(batches.at(-1)!.hash.subarray(-32));
    this.next = firstTransfer;
    this.last = firstTransfer - 1 + batches.reduce((sum, { transferCount }) => sum + transferCount, 0);
    this.matches = matchesIn(blocks, context);
  }

  /** The same blocks, not yet matched. */
  restarted(): PreCommitMatches {
    return new PreCommitMatches(this.blocks, this.context);
  }

  /** Prepares notifications until `deadline` (performance.now()). The rest are prepared when taken. */
  prepare(deadline: number): void {
    while (performance.now() < deadline) {
      const { done, value: match } = this.matches.next();
      if (done) return;
      if (match !== null && match.subscribers.length > 0) this.prepared.push(match);
    }
  }

  /**
   * The next matches in order, at most `limit`. Fewer also when a large transaction takes time; `isLast` at the end.
   */
  take(limit: number): { matches: EventMatch[]; isLast: boolean } {
    const taken = this.prepared.splice(0, limit);
    while (taken.length < limit) {
      const { done, value: match } = this.matches.next();
      if (done) return { matches: taken, isLast: true };
      if (match === null) break;
      taken.push(match);
    }
    return { matches: taken, isLast: false };
  }
}

/** Yields null between the pieces of a large transaction. */
function* matchesIn(
  { batches, firstTransfer }: CommittingBlocks,
  context: MatchContext,
): Generator<EventMatch | null, void, void> {
  let firstId = firstTransfer;
  let source: BatchSource | null = null;
  for (const batch of batches) {
    source = new BatchSource(batch, firstId, context, source);
    yield* matchesInBatch(source, context.subscribers);
    firstId += batch.transferCount;
  }
}

/** The rows equal those read from the index after the commit. */
function* matchesInBatch(
  source: BatchSource,
  subscribers: SubscriptionIndex,
): Generator<EventMatch | null, void, void> {
  const { batch } = source;
  let block = 0;
  let transactionStart = 0;
  for (let i = 0; i < batch.transferCount; i++) {
    while (i >= batch.transferEnd[block]!) block++;
    if (batch.tx[i] !== batch.tx[transactionStart]) transactionStart = i;
    const addresses = source.addressesAt(i);
    const byAddress = subscribers.candidatesByAddress(addresses);
    if (byAddress.length === 0 && !subscribers.wantsTrades) continue;
    const event = TransferEvent.from(source, source.rowAt(i, block, i - transactionStart, addresses));
    for (const _piece of event.prepare(subscribers.examiners(byAddress))) yield null;
    const candidates = subscribers.candidatesByTrade(byAddress, event);
    // Yielded even if no candidate wants it: checking many candidates takes time, which callers bound between matches.
    yield { event, subscribers: candidates.filter((subscriber) => subscriber.prepare(event)) };
  }
}
