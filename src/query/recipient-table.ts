/** Sums of a wallet's transfers to selected recipients. */

import { type CounterpartyTotals, WeiSums } from '../store/counterparty-table.ts';
import type { HistoryCursor } from '../store/wallet-history.ts';

/** The counted entries of one recipient, summed. */
export interface RecipientTotals {
  /** wallets.id. */
  recipient: number;
  count: number;
  wei: bigint;
  /** transfers.id of the first and the last of these entries. */
  firstTransfer: number;
  lastTransfer: number;
}

/**
 * Most other wallets have no row. A byte indexed by the low bits of the id shows this for nearly all of them without
 * the map.
 */
const FILTER_BYTES = 4096;

/** Rows by recipient, in insertion order. */
export class RecipientTable {
  private readonly rows = new Map<number, Row>();
  private readonly filter = new Uint8Array(FILTER_BYTES);
  /** Recipients of earlier pages. */
  private readonly skipped = new Set<number>();
  private readonly limit: number;
  private readonly upTo: number;

  /** Takes up to `limit` rows, of recipients whose newest transfer is below `upTo`. */
  constructor(limit: number, upTo = Number.POSITIVE_INFINITY) {
    this.limit = limit;
    this.upTo = upTo;
  }

  get isFull(): boolean {
    return this.rows.size >= this.limit;
  }

  /** How many more rows fit. */
  get room(): number {
    return this.limit - this.rows.size;
  }

  /** wallets.id of the recipients with a row. */
  get ids(): number[] {
    return [...this.rows.keys()];
  }

  /** Whether a recipient whose newest transfer so far is this one would get a row, if one fits. */
  takes(recipient: number, transfer: number): boolean {
    return transfer < this.upTo && !this.rows.has(recipient) && !this.skipped.has(recipient);
  }

  /** Adds a row unless it exists. Transfers must come newest first. */
  addRow(recipient: number, transfer: number): void {
    if (transfer >= this.upTo) this.skipped.add(recipient);
    if (!this.takes(recipient, transfer)) return;
    this.rows.set(recipient, new Row());
    this.filter[recipient % FILTER_BYTES] = 1;
  }

  rowOf(recipient: number): Row | undefined {
    return this.filter[recipient % FILTER_BYTES] === 0 ? undefined : this.rows.get(recipient);
  }

  list(): RecipientTotals[] {
    return [...this.rows].map(([recipient, row]) => ({
      recipient,
      count: row.count,
      wei: row.wei,
      firstTransfer: row.first,
      lastTransfer: row.last,
    }));
  }
}

class Row {
  first = Number.POSITIVE_INFINITY;
  last = 0;
  count = 0;
  private readonly sums = new WeiSums(1);
  private stored = 0n;

  /** Counts the current entry. Entries may come in any order. */
  add(cursor: HistoryCursor): void {
    const { transfer } = cursor;
    if (transfer < this.first) this.first = transfer;
    if (transfer > this.last) this.last = transfer;
    this.count++;
    this.sums.add(0, cursor);
  }

  /** Adds the sent transfers from stored sums. */
  addTotals({ outWei, sentCount, firstSent, lastSent }: CounterpartyTotals): void {
    this.first = Math.min(this.first, firstSent);
    this.last = Math.max(this.last, lastSent);
    this.count += sentCount;
    this.stored += outWei;
  }

  get wei(): bigint {
    return this.stored + this.sums.sum(0);
  }
}
