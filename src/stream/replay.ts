/** The indexed transfers for a watcher from an id on, read in pieces. */
import type { EventRow } from '../query/events.ts';
import type { StreamReads } from '../query/stream-reads.ts';
import { mergeHistories } from './merged-history.ts';
import { SCANNED_PER_STEP } from './turn-limits.ts';
import type { Watcher } from './watcher.ts';

/** Full rows read at a time: under 2 ms. */
const ROWS_PER_STEP = 100;

/**
 * Yields the transfers with ids `from <= id < below` that may concern the watcher, in order; empty pieces where nothing
 * was found for a while. Stop after a rollback: the ids are valid only while the index keeps those transfers.
 */
export function* replayTransfers(
  reads: StreamReads,
  watcher: Watcher,
  from: number,
  below: number,
): Generator<EventRow[], void, void> {
  for (const ids of idsFor(reads, watcher, from, below)) {
    if (ids.length === 0) yield [];
    for (let at = 0; at < ids.length; at += ROWS_PER_STEP)
      yield reads.events(ids.slice(at, at + ROWS_PER_STEP));
  }
}

function idsFor(reads: StreamReads, watcher: Watcher, from: number, below: number): Iterable<number[]> {
  const idsOf = (addresses: Iterable<string>): number[] =>
    [...addresses].map(reads.walletId).filter((id) => id !== undefined);
  if (watcher.wallets.size > 0) return mergeHistories(reads.history, idsOf(watcher.wallets), from, below);
  return scannedIds(reads, watcher.tokens.size > 0 ? new Set(idsOf(watcher.tokens)) : null, from, below);
}

function* scannedIds(
  reads: StreamReads,
  contracts: ReadonlySet<number> | null,
  from: number,
  below: number,
): Generator<number[], void, void> {
  for (let next = from; next < below; ) {
    const rows = reads.scan(next, below, SCANNED_PER_STEP);
    next = rows.length < SCANNED_PER_STEP ? below : rows.at(-1)!.id + 1;
    const wanted =
      contracts === null ? rows : rows.filter(({ contract }) => contract !== null && contracts.has(contract));
    yield wanted.map(({ id }) => id);
  }
}
