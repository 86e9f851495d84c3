/** Reads a subscriber's indexed transfers from an id on, in pieces. */
import { Heap } from '../../lib/heap.ts';
import type { StreamReads } from '../../query/stream-reads.ts';
import { isSelectedByWallet } from './subscription-index.ts';
import type { TransferSubscription } from './transfer-subscription.ts';

/** Transfers scanned by id at a time. */
export const SCANNED_PER_STEP = 1_000;

/** Some ids in order: all those below `next` that were not in an earlier piece. */
export interface IdPiece {
  ids: number[];
  next: number;
}

/** Transfers read at a time, in under 2 ms. */
const IDS_PER_STEP = 100;

/** Histories read between two yields. */
const READS_PER_STEP = 50;

interface WalletReading {
  wallet: number;
  /** The ids read; those before `at` are merged. */
  ids: readonly number[];
  at: number;
  /** First id not yet read; `below` at the end. */
  next: number;
}

/** Yields the merged ids in ascending pieces. An empty piece lets the caller pause. */
export function* mergeHistories(
  read: StreamReads['history'],
  wallets: readonly number[],
  from: number,
  below: number,
): Generator<IdPiece, void, void> {
  const readings = new Heap<WalletReading>((a, b) => a.ids[a.at]! < b.ids[b.at]!);
  let reads = 0;
  const readOn = (wallet: number, first: number): void => {
    if (first >= below) return;
    const { ids, next } = read(wallet, first, below);
    if (ids.length > 0) readings.push({ wallet, ids, at: 0, next });
    reads++;
  };
  for (const wallet of wallets) {
    readOn(wallet, from);
    if (reads % READS_PER_STEP === 0) yield { ids: [], next: from };
  }
  reads = 0;
  let merged: number[] = [];
  let next = from;
  for (let reading = readings.pop(); reading !== undefined; reading = readings.pop()) {
    const id = reading.ids[reading.at++]!;
    if (id >= next) merged.push(id); // else another wallet of the transfer came first
    next = id + 1;
    if (reading.at < reading.ids.length) readings.push(reading);
    else readOn(reading.wallet, reading.next);
    if (merged.length < IDS_PER_STEP && reads < READS_PER_STEP) continue;
    yield { ids: merged, next };
    merged = [];
    reads = 0;
  }
  yield { ids: merged, next: below };
}

/**
 * Yields the ids `from <= id < below` of the transfers that the subscriber may want, in order. An empty piece lets the
 * caller pause. Abandon the generator after a rollback: the ids are valid only while the index keeps those
 * transfers.
 */
export function* replayIds(
  reads: StreamReads,
  subscriber: TransferSubscription,
  from: number,
  below: number,
): Generator<IdPiece, void, void> {
  for (const { ids, next } of idsFor(reads, subscriber, from, below)) {
    let at = 0;
    for (; at + IDS_PER_STEP < ids.length; at += IDS_PER_STEP)
      yield { ids: ids.slice(at, at + IDS_PER_STEP), next: ids[at + IDS_PER_STEP]! };
    yield { ids: ids.slice(at), next };
  }
}

function idsFor(
  reads: StreamReads,
  subscriber: TransferSubscription,
  from: number,
  below: number,
): Iterable<IdPiece> {
  const idsOf = (addresses: Iterable<string>): number[] =>
    [...addresses].map(reads.walletId).filter((id) => id !== undefined);
  if (isSelectedByWallet(subscriber))
    return mergeHistories(reads.history, idsOf(subscriber.wallets), from, below);
  const contracts = isSelectedByToken(subscriber) ? new Set(idsOf(subscriber.tokens)) : null;
  return scannedIds(reads, contracts, from, below);
}

/** Whether transfers of its tokens are all that a subscriber may want. A trade may end with a transfer of any asset. */
function isSelectedByToken({ wallets, tokens, examinesTrades }: TransferSubscription): boolean {
  return wallets.size === 0 && tokens.size > 0 && !examinesTrades;
}

function* scannedIds(
  reads: StreamReads,
  contracts: ReadonlySet<number> | null,
  from: number,
  below: number,
): Generator<IdPiece, void, void> {
  for (let next = from; next < below; ) {
    const rows = reads.scan(next, below, SCANNED_PER_STEP);
    next = rows.length < SCANNED_PER_STEP ? below : rows.at(-1)!.id + 1;
    const wanted =
      contracts === null ? rows : rows.filter(({ contract }) => contract !== null && contracts.has(contract));
    yield { ids: wanted.map(({ id }) => id), next };
  }
}
