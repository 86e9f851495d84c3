/** Matches the transfers of blocks that the indexer is about to commit with their subscribers. */

import { bytesToDigits, bytesToHex, type Hex } from '../../lib/hex.ts';
import { packedHash, packedValue } from '../../lib/packed-bytes.ts';
import type { BlockBatch } from '../../model/block-batch.ts';
import { TransferKind } from '../../model/transfer-kind.ts';
import type { CommittingBlocks } from '../../model/watermark.ts';
import type { EventRow } from '../../query/events.ts';
import type { TokenSymbols } from '../../query/tokens.ts';
import type { SubscriptionIndex } from './subscription-index.ts';
import type { ChainInfo } from './transfer-json.ts';
import { TransferEvent, type TransferSubscription } from './transfer-subscription.ts';

/** A transfer with candidate subscribers, reduced to those that want it. */
interface EventMatch {
  event: TransferEvent;
  subscribers: readonly TransferSubscription[];
}

export interface MatchContext {
  subscribers: SubscriptionIndex;
  symbols: TokenSymbols;
  chainInfo: ChainInfo;
}

export class PreCommitMatches {
  /** Hash of the last block. */
  readonly hash: Hex;
  /** Ids of the first transfer not yet pushed and of the last one. */
  next: number;
  readonly last: number;
  private readonly blocks: CommittingBlocks;
  private readonly context: MatchContext;
  private readonly matches: Iterator<EventMatch, void, void>;
  private readonly prepared: EventMatch[] = [];

  constructor(blocks: CommittingBlocks, context: MatchContext) {
    const { batches, firstTransfer } = blocks;
    this.blocks = blocks;
    this.context = context;
    this.hash = bytesToHex(batches.at(-1)!.hash.subarray(-32));
    this.next = firstTransfer;
    this.last = firstTransfer - 1 + batches.reduce((sum, { transferCount }) => sum + transferCount, 0);
    this.matches = matchesIn(batches, firstTransfer, context);
  }

  /** The same blocks, not matched yet. */
  restarted(): PreCommitMatches {
    return new PreCommitMatches(this.blocks, this.context);
  }

  /** Prepares notifications until `deadline` (by performance.now()). The rest are prepared when taken. */
  prepare(deadline: number): void {
    while (performance.now() < deadline) {
      const match = this.matches.next().value;
      if (match === undefined) return;
      if (match.subscribers.length > 0) this.prepared.push(match);
    }
  }

  /** The next matches in order, at most `limit`; fewer means these are the last ones. */
  take(limit: number): EventMatch[] {
    const taken = this.prepared.splice(0, limit);
    while (taken.length < limit) {
      const match = this.matches.next().value;
      if (match === undefined) break;
      taken.push(match);
    }
    return taken;
  }
}

function* matchesIn(
  batches: readonly BlockBatch[],
  firstTransfer: number,
  context: MatchContext,
): Generator<EventMatch, void, void> {
  let firstId = firstTransfer;
  for (const batch of batches) {
    yield* matchesInBatch(batch, firstId, context);
    firstId += batch.transferCount;
  }
}

/** The rows equal those read from the index after the commit. */
function* matchesInBatch(
  batch: BlockBatch,
  firstId: number,
  { subscribers, symbols, chainInfo }: MatchContext,
): Generator<EventMatch, void, void> {
  const addresses = addressesOf(batch);
  let block = 0;
  let transactionStart = 0;
  for (let i = 0; i < batch.transferCount; i++) {
    while (i >= batch.transferEnd[block]!) block++;
    if (batch.tx[i] !== batch.tx[transactionStart]) transactionStart = i;
    const from = addresses[batch.from[i]!]!;
    const to = addresses[batch.to[i]!]!;
    const token = batch.token[i]! < 0 ? '' : addresses[batch.token[i]!]!;
    const candidates = subscribers.candidatesByAddress({ from, to, token });
    if (candidates.length === 0) continue;
    const { symbol, decimals } = token === '' ? NO_SYMBOL : symbols(token);
    const kind = batch.kind[i]!;
    const logIndex = batch.logIndex[i]!;
    const row: EventRow = {
      id: firstId + i,
      kind,
      amount: kind === TransferKind.erc721 ? '' : digitsAt(batch.amounts, batch.amountEnd, i),
      tokenNumber: digitsAt(batch.tokenNumbers, batch.tokenNumberEnd, i),
      logIndex: logIndex < 0 ? null : logIndex,
      txHash: hashDigits(batch.txHashes, batch.tx[i]!),
      eventIndex: i - transactionStart,
      blockNumber: batch.number[block]!,
      blockHash: hashDigits(batch.hash, block),
      timestamp: batch.timestamp[block]!,
      from,
      to,
      token,
      symbol,
      decimals,
    };
    const event = new TransferEvent(row, false, chainInfo);
    // Yielded even if no candidate wants it: checking many of them takes time, which callers bound between matches.
    yield { event, subscribers: candidates.filter((subscriber) => subscriber.prepare(event)) };
  }
}

const NO_SYMBOL = { symbol: null, decimals: null };

function addressesOf({ addresses }: BlockBatch): string[] {
  return Array.from({ length: addresses.length / 20 }, (_, i) =>
    bytesToDigits(addresses.subarray(i * 20, i * 20 + 20)),
  );
}

function hashDigits(hashes: Uint8Array, i: number): string {
  return bytesToDigits(packedHash(hashes, i));
}

function digitsAt(values: Uint8Array, ends: Uint32Array, i: number): string {
  return bytesToDigits(packedValue(values, ends, i));
}
