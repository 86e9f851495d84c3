/** Reading the transfers once, in order, for the wallets and tokens of a sample. */
import type { Db, Statement } from '../store/open-database.ts';
import { STORED_TRANSFER, type StoredTransfer } from '../store/schema.ts';
import { TokenRecount, toTransferRow, WalletRecount } from './recount.ts';
import type { WalletComparer } from './wallet-comparer.ts';

/** Ids read in one statement: a fraction of a second. */
export const IDS_PER_READ = 100_000;

export interface SampleIds {
  wallets: readonly number[];
  tokens: readonly number[];
}

/** The transfers of the sample and their sums; `advance` continues from `position`. */
export class SampleScan {
  readonly wallets: ReadonlyMap<number, WalletRecount>;
  readonly tokens: ReadonlyMap<number, TokenRecount>;
  /** The missing ids in words, one line at most for each read. */
  readonly gaps: string[] = [];
  /** The last transfer read. */
  position: number;
  private readonly select: Statement<[number, number], StoredTransfer>;
  private readonly count: Statement<[number, number], number>;

  /** Begins behind transfer `after`. */
  constructor(db: Db, sample: SampleIds, after: number, comparer: WalletComparer) {
    const compareRun = comparer.runDifference.bind(comparer);
    this.wallets = new Map(sample.wallets.map((id) => [id, new WalletRecount(id, compareRun)]));
    this.tokens = new Map(sample.tokens.map((id) => [id, new TokenRecount(id)]));
    this.position = after;
    const wallets = sample.wallets.join(',');
    this.select = db.prepare(/* sql */ `
      SELECT ${STORED_TRANSFER} FROM transfers
      WHERE id BETWEEN ? AND ?
        AND (sender IN (${wallets}) OR receiver IN (${wallets}) OR token IN (${sample.tokens.join(',')}))
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
      this.wallets.get(row.sender)?.add(row);
      if (row.receiver !== row.sender) this.wallets.get(row.receiver)?.add(row);
      if (row.token !== null) this.tokens.get(row.token)?.add(row);
    }
    this.position = end;
  }
}
