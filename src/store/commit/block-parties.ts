/** Writes the senders and receivers of the transactions of a commit. */
import { bytesToDigits } from '../../lib/hex.ts';
import type { BlockBatch } from '../../model/block-batch.ts';
import { type AddressKeys, getByAddress, WALLET_BY_ADDRESS } from '../addresses.ts';
import type { Db, Statement } from '../open-database.ts';
import { PartiesPacker, partiesChecksum } from '../packed-parties.ts';
import { ADDRESS_BYTES } from '../schema.ts';
import type { CommitWallets } from './commit-wallets.ts';

/** Looked-up addresses that are kept: routers and relayers recur. Together some 300 KB. */
const MAX_FOUND = 4_096;
/** Marks an address that the file does not have. */
const NONE = -1;

export class BlockPartiesWriter {
  private readonly insert: Statement;
  private readonly walletOf: Statement<AddressKeys, number>;
  private readonly packer = new PartiesPacker();
  /** Ids of wallets in the file by the digits of their addresses. */
  private readonly found = new Map<string, number>();

  constructor(db: Db) {
    this.insert = db.prepare('INSERT INTO block_parties (number, parties, checksum) VALUES (?, ?, ?)');
    this.walletOf = db.prepare<AddressKeys, number>(`SELECT w.id FROM ${WALLET_BY_ADDRESS}`).pluck();
  }

  /** Starts a commit: the file has changed since the last one. */
  reset(): void {
    this.found.clear();
  }

  /** Writes block `i` of a batch, which ends with the wallet `lastWallet`. */
  write(batch: BlockBatch, i: number, wallets: CommitWallets, lastWallet: number): void {
    const parties = this.packer.pack(batch, i, (bytes, start) => {
      const slot = wallets.find(bytes, start);
      const id =
        slot === null ? this.inFile(bytes.subarray(start, start + ADDRESS_BYTES)) : wallets.ids[slot]!;
      // Not one that a later block of the commit adds, so that the row does not depend on where commits end.
      return id === NONE || id > lastWallet ? null : id;
    });
    if (parties === null) return;
    const number = batch.number[i]!;
    this.insert.run(number, parties, partiesChecksum(number, parties));
  }

  private inFile(address: Uint8Array): number {
    const key = bytesToDigits(address);
    let id = this.found.get(key);
    if (id !== undefined) return id;
    id = getByAddress(this.walletOf, address) ?? NONE;
    if (this.found.size >= MAX_FOUND) this.found.clear();
    this.found.set(key, id);
    return id;
  }
}
