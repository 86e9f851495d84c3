/**
 * Counts of logs that were not indexed: the rows of `skipped_logs`. They are estimates. A block height counts once, so
 * that a kill, a reorg or a repair does not count its logs again; logs that only its new block has are not counted.
 */
import { bytesToHex, hexToBytes } from '../lib/hex.ts';
import type { SkippedLogs } from '../model/block-batch.ts';
import { MAX_SKIPPED_CONTRACTS, type SkippedContract, type SkippedTotals } from '../model/skipped-logs.ts';
import { rowChecksum } from './checksum.ts';
import type { Db, Statement } from './open-database.ts';

/**
 * Rows kept for contracts, because anyone can deploy one that logs nonsense. A new one replaces the one with the fewest
 * logs and goes on from its count (the space-saving algorithm): whoever logs more often than one in this many is kept,
 * and no count is too high by more than the smallest one.
 */
const MAX_CONTRACTS = 1_000;

/** `contract` of the row that sums up a reason. */
const ALL = new Uint8Array(0);

interface SkippedRow {
  reason: string;
  contract: Uint8Array;
  logs: number;
  tx: Uint8Array;
}

const COUNTED = 'SELECT reason, contract, logs, tx FROM skipped_logs WHERE contract';

/** The statements on `skipped_logs`. The caller opens the transaction. */
export class SkippedLogTable {
  private readonly maxContracts: number;
  private readonly find: Statement<[string, Uint8Array], { logs: number; last: number; tx: Uint8Array }>;
  private readonly replace: Statement;
  private readonly contracts: Statement<[], number>;
  private readonly least: Statement<[], SkippedRow>;
  private readonly delete: Statement;
  private readonly sums: Statement<[], SkippedRow>;
  private readonly most: Statement<[], SkippedRow>;

  /** Tests keep fewer contracts. */
  constructor(db: Db, maxContracts: number = MAX_CONTRACTS) {
    this.maxContracts = maxContracts;
    this.find = db.prepare('SELECT logs, last, tx FROM skipped_logs WHERE reason = ? AND contract = ?');
    this.replace = db.prepare(
      'REPLACE INTO skipped_logs (reason, contract, logs, last, tx, checksum) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.contracts = db.prepare<[], number>("SELECT count(*) FROM skipped_logs WHERE contract > x''").pluck();
    this.least = db.prepare(`${COUNTED} > x'' ORDER BY logs, contract, reason LIMIT 1`);
    this.delete = db.prepare('DELETE FROM skipped_logs WHERE reason = ? AND contract = ?');
    this.sums = db.prepare(`${COUNTED} = x'' ORDER BY logs DESC, reason`);
    this.most = db.prepare(
      `${COUNTED} > x'' ORDER BY logs DESC, contract DESC, reason DESC LIMIT ${MAX_SKIPPED_CONTRACTS}`,
    );
  }

  /** Counts logs of a block. */
  add({ block, reason, contract, logs, txHash }: SkippedLogs): void {
    const key = contract === null ? ALL : hexToBytes(contract);
    const known = this.find.get(reason, key);
    if (known !== undefined && known.last >= block) return;
    const before = known?.logs ?? (contract === null ? 0 : this.makeRoom());
    const row = [reason, key, before + logs, block, known?.tx ?? hexToBytes(txHash)];
    this.replace.run(...row, rowChecksum(...row));
  }

  totals(): SkippedTotals {
    const sums = this.sums.all();
    return {
      skippedLogs: Object.fromEntries(sums.map(({ reason, logs }) => [reason, logs])),
      skippedIn: Object.fromEntries(sums.map(({ reason, tx }) => [reason, bytesToHex(tx)])),
      skippedContracts: this.most.all().map(
        ({ contract, reason, logs, tx }): SkippedContract => ({
          contract: bytesToHex(contract),
          reason,
          logs,
          txHash: bytesToHex(tx),
        }),
      ),
    };
  }

  /** Removes the contract with the fewest logs if there is no room for one more. Returns its count, 0 for none. */
  private makeRoom(): number {
    if ((this.contracts.get() ?? 0) < this.maxContracts) return 0;
    const least = this.least.get();
    if (least === undefined) return 0;
    this.delete.run(least.reason, least.contract);
    return least.logs;
  }
}
