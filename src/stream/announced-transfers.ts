/** What the blocks that the writer is about to commit will bring to watchers. */
import { bytesToDigits, bytesToHex } from '../lib/hex.ts';
import { packedHash, packedValue } from '../lib/packed-bytes.ts';
import type { EventRow } from '../query/events.ts';
import type { TokenSymbols } from '../query/token-symbols.ts';
import { type BlockBatch, type CommittingBlocks, type Hex, TransferKind } from '../types.ts';
import type { ChainInfo } from './transfer-json.ts';
import { TransferEvent, type Watcher } from './watcher.ts';
import type { WatcherIndex } from './watcher-index.ts';

/** A transfer that was shown to someone, and who wants it. */
interface EventMatch {
  event: TransferEvent;
  watchers: readonly Watcher[];
}

/** What is the same for all announcements. */
export interface MatchContext {
  watchers: WatcherIndex;
  symbols: TokenSymbols;
  chainInfo: ChainInfo;
}

export class AnnouncedTransfers {
  /** Of the last of the blocks. */
  readonly hash: Hex;
  /** Id of the first transfer that is not pushed yet, and of the last one. */
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

  /** The same blocks, of which nothing was looked for yet. */
  restarted(): AnnouncedTransfers {
    return new AnnouncedTransfers(this.blocks, this.context);
  }

  /** Makes notifications until `deadline`, a time of performance.now(); the others are made when they are taken. */
  prepare(deadline: number): void {
    while (performance.now() < deadline) {
      const match = this.matches.next().value;
      if (match === undefined) return;
      if (match.watchers.length > 0) this.prepared.push(match);
    }
  }

  /** The next transfers that someone may want, in order, `limit` at most; less than that are the last ones. */
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

/** The rows equal those that the index gives once the batch is committed. */
function* matchesInBatch(
  batch: BlockBatch,
  firstId: number,
  { watchers, symbols, chainInfo }: MatchContext,
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
    const candidates = watchers.candidatesByAddress({ from, to, token });
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
    // Yielded without watchers too: asking many of them takes time, which callers limit between two matches.
    yield { event, watchers: candidates.filter((watcher) => watcher.prepare(event)) };
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
