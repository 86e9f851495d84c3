/**
 * Appends blocks: rows, counters and wallet facts of a batch in one transaction.
 *
 * In a large index, pages cost more than rows. A commit of 46,000 transfers on top of ten million changes 23,000 pages
 * of 8 KiB, half of them in `wallets` and a fifth in `addresses`. Each page is fetched, written to the WAL and
 * checkpointed. Hence three rules: look up, change and write rows in key order, one at a time
 * (commit/address-resolver.ts, commit/wallet-rows.ts); meanwhile keep only columns of numbers, some 110 bytes per
 * transfer (commit/commit-transfers.ts, commit/commit-wallets.ts); make a commit as large as memory, disk and time
 * allow (indexer/adaptive-commit-size.ts). Preparing the next commit overlaps with the checkpoint of the last one.
 * In a small index, the work per row dominates. One more buffer per row costs as much as binding its statement, and
 * calling a statement as much as reading or writing its row (rows.ts).
 */
import type { BlockBatch } from '../model/block-batch.ts';
import { type AddressRow, addressPrefix } from './addresses.ts';
import { chainOf, prepareLastBlock } from './chain.ts';
import { seedOf } from './checksum.ts';
import { addedBy } from './commit/added.ts';
import { BlockRows } from './commit/block-rows.ts';
import { Commit } from './commit/commit.ts';
import { HoldingRows } from './commit/holding-rows.ts';
import type { OnStep } from './commit/on-step.ts';
import type { Tables } from './commit/tables.ts';
import { WalletRows } from './commit/wallet-rows.ts';
import type { Db } from './open-database.ts';

export class Appender {
  private readonly db: Db;
  private readonly tables: Tables;
  private readonly rows: BlockRows;
  private readonly lastBlock: ReturnType<typeof prepareLastBlock>;
  /** Memory used by the last commit besides its batches, bytes. */
  changesBytes = 0;

  constructor(db: Db, tables: Tables) {
    this.db = db;
    this.tables = tables;
    this.rows = new BlockRows(db);
    this.lastBlock = prepareLastBlock(db);
  }

  /** Reads what the commit needs to know and orders its changes. The batches must continue the chain. */
  prepare(batches: readonly BlockBatch[], onStep: OnStep = () => undefined): Commit {
    return this.db.transaction(() => new Commit(this.tables, batches, this.lastBlock(), onStep)).deferred();
  }

  /** Writes the commit in one transaction. Call it once, before any other append or rollback. */
  write(commit: Commit): void {
    try {
      this.writeInTransaction(commit);
    } finally {
      commit.release();
    }
  }

  private writeInTransaction(commit: Commit): void {
    this.db
      .transaction(() => {
        this.rows.write(commit, seedOf(chainOf(this.db)?.chainId ?? 0));
        for (const { number, timestamp, gaps, skipped } of commit.batches) {
          this.tables.timeFalls.append(number, timestamp);
          for (const gap of gaps) this.tables.blockGaps.append(gap);
          for (const each of skipped) this.tables.skippedLogs.add(each);
        }
        new HoldingRows(commit, this.tables).save();
        new WalletRows(commit, this.tables).save();
        this.tables.addresses.add(addressRows(commit));
        this.tables.derived.append(addedBy(commit));
        commit.zoneMap.save();
        if (commit.firstParent !== null) this.tables.anchors.setFirstParent(commit.firstParent);
        this.changesBytes = commit.memoryBytes;
      })
      .immediate();
  }
}

/** The rows of the new wallets, in key order. */
function* addressRows({ newAddresses, wallets }: Commit): Generator<AddressRow> {
  for (const { slot, isWholeKey } of newAddresses) {
    const address = wallets.addressAt(slot);
    yield { key: isWholeKey ? address : addressPrefix(address), wallet: wallets.ids[slot]! };
  }
}
