/** Chooses samples and works through them. */

import { type Random, randomInt } from '../lib/random.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { STORED_TRANSFER, type StoredTransfer } from '../store/schema.ts';
import { type TransferRow, toTransferRow } from '../tokens/transfer-row.ts';
import type { WalletComparer } from './comparers.ts';
import { TokenRecount, WalletRecount } from './recount.ts';

/** Ids per statement: a fraction of a second. */
export const IDS_PER_READ = 100_000;

/** Most tokens of a wallet, and wallets of a token, that a recount keeps: about 300 MB. */
const MAX_KEPT = 2_000_000;

export interface SampleIds {
  wallets: readonly number[];
  tokens: readonly number[];
}

/** The transfers of the sample and their sums; `advance` continues from `position`. */
export class SampleScan {
  readonly wallets: Map<number, WalletRecount>;
  readonly tokens: Map<number, TokenRecount>;
  /** Wallets and tokens dropped because they would take too much memory. */
  readonly tooLarge: { wallets: number[]; tokens: number[] } = { wallets: [], tokens: [] };
  /** Describes missing ids, at most one line per read. */
  readonly gaps: string[] = [];
  /** The last transfer read. */
  position: number;
  private readonly select: Statement<[number, number], StoredTransfer>;
  private readonly count: Statement<[number, number], number>;

  /** Starts after transfer `after`. */
  constructor(db: Db, sample: SampleIds, after: number, comparer: WalletComparer) {
    const comparePage = comparer.pageDifference.bind(comparer);
    this.wallets = new Map(sample.wallets.map((id) => [id, new WalletRecount(id, comparePage)]));
    this.tokens = new Map(sample.tokens.map((id) => [id, new TokenRecount(id)]));
    this.position = after;
    this.select = db.prepare(/* sql */ `
      SELECT ${STORED_TRANSFER} FROM transfers
      WHERE id BETWEEN ? AND ?
        AND (${isAmong('sender', sample.wallets)} OR ${isAmong('receiver', sample.wallets)}
          OR ${isAmong('token', sample.tokens)})
      ORDER BY id`);
    this.count = db
      .prepare<[number, number], number>('SELECT count(*) FROM transfers WHERE id BETWEEN ? AND ?')
      .pluck();
  }

  /** Reads the next transfers, none above `to`. */
  advance(to: number): void {
    const from = this.position + 1;
    const end = Math.min(to, this.position + IDS_PER_READ);
    const present = this.count.get(from, end) ?? 0;
    if (present !== end - from + 1)
      this.gaps.push(`of the transfers ${from} to ${end} ${end - from + 1 - present} are missing`);
    for (const raw of this.select.iterate(from, end)) {
      const row = toTransferRow(raw);
      addTo(this.wallets, row.sender, row, this.tooLarge.wallets);
      if (row.receiver !== row.sender) addTo(this.wallets, row.receiver, row, this.tooLarge.wallets);
      if (row.token !== null) addTo(this.tokens, row.token, row, this.tooLarge.tokens);
    }
    this.position = end;
  }
}

/** Adds a transfer to a recount of the sample. Drops the recount when it takes too much memory. */
function addTo(
  recounts: Map<number, WalletRecount | TokenRecount>,
  id: number,
  row: TransferRow,
  tooLarge: number[],
): void {
  const recount = recounts.get(id);
  if (recount === undefined) return;
  recount.add(row);
  if (recount.kept <= MAX_KEPT) return;
  recounts.delete(id);
  tooLarge.push(id);
}

/**
 * SQL: whether a column is among the ids. Uses a range for consecutive ids, because a list of thousands would be too
 * long.
 */
function isAmong(column: string, ids: readonly number[]): string {
  const [first] = ids;
  const isRange = first !== undefined && ids.every((id, i) => id === first + i);
  return isRange ? `${column} BETWEEN ${first} AND ${ids.at(-1)}` : `${column} IN (${ids.join(',')})`;
}

/**
 * Up to `count` distinct numbers of `from..to`, ascending: all of them if there are few enough, else both ends and
 * random others.
 */
export function sampleRange(random: Random, from: number, to: number, count: number): number[] {
  if (to < from) return [];
  if (to - from < count) return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const chosen = new Set([from, to]);
  while (chosen.size < count) chosen.add(randomInt(random, from, to));
  return [...chosen].sort((a, b) => a - b);
}

/**
 * Runs `work` on every item, `concurrency` at a time. The first failure aborts the signal of the others; rejects with
 * it once none is running.
 */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  concurrency: number,
  signal: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const anySignal = AbortSignal.any([signal, stop.signal]);
  const rest = items[Symbol.iterator]();
  const run = async (): Promise<void> => {
    for (let next = rest.next(); !next.done && !stop.signal.aborted; next = rest.next())
      await work(next.value, anySignal).catch((error: unknown) => stop.abort(error));
  };
  await Promise.all(Array.from({ length: concurrency }, run));
  stop.signal.throwIfAborted();
}
