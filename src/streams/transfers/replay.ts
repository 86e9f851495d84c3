/** Reads a subscriber's indexed transfers from an id on, in pieces. */
import type { StreamReads } from '../../query/stream-reads.ts';
import { isSelectedByWallet } from './subscription-index.ts';
import type { TransferSubscription } from './transfer-subscription.ts';

/** Transfers scanned by id at a time. */
export const SCANNED_PER_STEP = 1_000;

/** Reads a wallet's next transfers: some ids `from <= id < below`, ascending; empty at the end. */
type ReadHistory = (wallet: number, from: number, below: number) => number[];

/** Wallets read between two yields. */
const WALLETS_PER_STEP = 50;

interface WalletReading {
  wallet: number;
  /** Ids read but not yet yielded. */
  ids: number[];
  /** First id not yet read; `below` at the end. */
  next: number;
}

/** Some ids in order: all those below `next` that were not in an earlier piece. */
export interface IdPiece {
  ids: number[];
  next: number;
}

/** Yields the merged ids in ascending pieces. An empty piece lets the caller pause. */
export function* mergeHistories(
  read: ReadHistory,
  wallets: readonly number[],
  from: number,
  below: number,
): Generator<IdPiece, void, void> {
  const cursors = wallets.map((wallet): WalletReading => ({ wallet, ids: [], next: from }));
  for (let completeBelow = from; completeBelow < below; ) {
    let reads = 0;
    for (const cursor of cursors) {
      if (cursor.ids.length > 0 || cursor.next >= below) continue;
      cursor.ids = read(cursor.wallet, cursor.next, below);
      cursor.next = cursor.ids.length === 0 ? below : cursor.ids.at(-1)! + 1;
      if (++reads % WALLETS_PER_STEP === 0) yield { ids: [], next: completeBelow };
    }
    // Below this id, the transfers of all wallets have been read.
    completeBelow = cursors.reduce((least, { next }) => Math.min(least, next), below);
    yield { ids: takeBelow(cursors, completeBelow), next: completeBelow };
  }
}

function takeBelow(cursors: readonly WalletReading[], limit: number): number[] {
  const taken = new Set<number>();
  for (const cursor of cursors) {
    const end = cursor.ids.findIndex((id) => id >= limit);
    for (const id of end < 0 ? cursor.ids.splice(0) : cursor.ids.splice(0, end)) taken.add(id);
  }
  return [...taken].sort((a, b) => a - b);
}

/** Transfers read at a time, in under 2 ms. */
const IDS_PER_STEP = 100;

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
