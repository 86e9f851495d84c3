/**
 * Whether wallets are contracts: the table `wallet_code`. It does not follow from the indexed blocks: a node is asked
 * for the code of a wallet that an answer needed.
 */
import { bytesToHex, type Hex } from '../lib/hex.ts';
import { rowChecksum } from './checksum.ts';
import type { Db, Statement } from './open-database.ts';
import { idList } from './read/id-list.ts';

/** A wallet whose code is to be read. */
export interface UnreadCode {
  wallet: number;
  address: Hex;
}

/** Blocks until a wallet without code is read again. A contract stays one. */
const RECHECK_BLOCKS = 20_000;

export class WalletCodeTable {
  private readonly due: Statement<[string, number], { id: number; address: Buffer }>;
  private readonly upsert: Statement;

  constructor(db: Db) {
    this.due = db.prepare(/* sql */ `
      SELECT w.id, w.address FROM json_each(?) list CROSS JOIN wallets w ON w.id = list.value
        LEFT JOIN wallet_code c ON c.wallet = w.id
      WHERE c.wallet IS NULL OR (c.contract = 0 AND c.block < ?)`);
    this.upsert = db.prepare(
      'REPLACE INTO wallet_code (wallet, contract, block, checksum) VALUES (?, ?, ?, ?)',
    );
  }

  /** Those of the wallets whose code is unknown at the block `head`, or known for too long. */
  unread(wallets: readonly number[], head: number): UnreadCode[] {
    const rows = this.due.all(idList(wallets), head - RECHECK_BLOCKS);
    return rows.map(({ id, address }) => ({ wallet: id, address: bytesToHex(address) }));
  }

  /** `block`: head of the index when the code was read. */
  save(wallet: number, isContract: boolean, block: number): void {
    const row = [wallet, isContract ? 1 : 0, block];
    this.upsert.run(...row, rowChecksum(...row));
  }
}
