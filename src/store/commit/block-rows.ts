/** Writes the rows of `transfers`, `blocks` and `block_parties`, with the checksum of each block. */
import { type BlockBatch, packedHash, packedValue } from '../../model/block-batch.ts';
import { hasTokenNumber, isSemiFungible, movesOne } from '../../model/transfer-kind.ts';
import { mixBlock, mixBytes, mixInteger, mixNull, mixTokenAndKind } from '../checksum.ts';
import type { Db, Statement } from '../open-database.ts';
import { RowWriter } from '../rows.ts';
import { LOG_INDEX_BASE, packTokenKind } from '../schema.ts';
import { BlockPartiesWriter } from './block-parties.ts';
import type { Commit } from './commit.ts';
import { NATIVE, startsTransaction } from './commit-transfers.ts';

export class BlockRows {
  private readonly insertBlock: Statement;
  private readonly transfers: RowWriter;
  private readonly parties: BlockPartiesWriter;

  constructor(db: Db) {
    this.insertBlock = db.prepare(
      /* sql */ `
      INSERT INTO blocks (number, hash, timestamp, last_transfer, last_wallet, transactions, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.parties = new BlockPartiesWriter(db);
    this.transfers = new RowWriter(
      db,
      /* sql */ `
      INSERT INTO transfers (id, tx, sender, receiver, token_kind, value, log)
      VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
  }

  /** Writes the blocks of a commit and their transfers. */
  write(commit: Commit, checksumSeed: number): void {
    this.transfers.reset();
    this.parties.reset();
    let { transactions } = commit.before;
    let lastWallet = commit.before.lastWallet;
    let [block, transfer, slot] = [0, 0, 0];
    for (const batch of commit.batches) {
      const checksums = this.writeTransfers(commit, batch, transfer, checksumSeed);
      for (let i = 0, at = 0; i < batch.blockCount; i++, block++) {
        let sum = checksums[i]!;
        for (; at < batch.transferEnd[i]!; at++) if (startsTransaction(batch, at)) transactions++;
        for (; slot < commit.slotEnds[block]!; slot++) {
          if (commit.wallets.ids[slot]! <= commit.before.lastWallet) continue;
          lastWallet++;
          const address = commit.wallets.addressAt(slot);
          sum = mixBytes(sum, address, 0, address.length);
        }
        const number = batch.number[i]!;
        const hash = packedHash(batch.hash, i);
        const timestamp = batch.timestamp[i]!;
        const lastTransfer = commit.before.lastTransfer + transfer + batch.transferEnd[i]!;
        const checksum = mixBlock(sum, number, hash, timestamp, lastTransfer, lastWallet, transactions);
        this.insertBlock.run(number, hash, timestamp, lastTransfer, lastWallet, transactions, checksum);
        this.parties.write(batch, i, commit.wallets, lastWallet);
      }
      transfer += batch.transferCount;
      commit.onStep();
    }
    this.transfers.flush();
  }

  /**
   * Writes the transfers of a batch, the first of which is the commit's transfer `base`. Returns a checksum per block.
   */
  private writeTransfers(commit: Commit, batch: BlockBatch, base: number, checksumSeed: number): Int32Array {
    const { transferEnd, amounts, amountEnd, tokenNumbers, tokenNumberEnd } = batch;
    const { transfers, tokens } = commit;
    const { ids } = commit.wallets;
    const checksums = new Int32Array(batch.blockCount).fill(checksumSeed);
    let block = 0;
    for (let i = 0; i < batch.transferCount; i++) {
      while (i === transferEnd[block]) block++;
      const at = base + i;
      const id = commit.firstTransfer + at;
      const kind = batch.kind[i]!;
      const logIndex = batch.logIndex[i]!;
      const hasNumber = hasTokenNumber(kind);
      const sender = ids[transfers.sender[at]!]!;
      const receiver = ids[transfers.receiver[at]!]!;
      const token = transfers.token[at] === NATIVE ? null : tokens[transfers.token[at]!]!;
      const tokenId = token?.id ?? 0;
      const distance = at - transfers.transactionStart[at]!;
      this.transfers.add(
        id,
        distance === 0 ? packedHash(batch.txHashes, batch.tx[i]!) : distance,
        sender,
        receiver,
        packTokenKind(tokenId, kind),
        storedValue(batch, i),
        logIndex < 0 ? null : logIndex - LOG_INDEX_BASE,
      );
      let sum = checksums[block]!;
      const hashAt = batch.tx[i]! * 32;
      sum = distance === 0 ? mixBytes(sum, batch.txHashes, hashAt, hashAt + 32) : mixInteger(sum, distance);
      sum = mixTokenAndKind(mixInteger(mixInteger(sum, sender), receiver), tokenId, kind);
      sum = movesOne(kind) ? mixNull(sum) : mixPacked(sum, amounts, amountEnd, i);
      sum = hasNumber ? mixPacked(sum, tokenNumbers, tokenNumberEnd, i) : mixNull(sum);
      sum = logIndex < 0 ? mixNull(sum) : mixInteger(sum, logIndex);
      checksums[block] = token?.firstTransfer === id ? mixInteger(sum, token.wallet) : sum;
    }
    return checksums;
  }
}

/** The column `value` of a transfer. */
function storedValue(
  { kind, amounts, amountEnd, tokenNumbers, tokenNumberEnd }: BlockBatch,
  i: number,
): Uint8Array {
  if (movesOne(kind[i]!)) return packedValue(tokenNumbers, tokenNumberEnd, i);
  const amount = packedValue(amounts, amountEnd, i);
  if (!isSemiFungible(kind[i]!)) return amount;
  const number = packedValue(tokenNumbers, tokenNumberEnd, i);
  return Buffer.concat([Uint8Array.of(number.length), number, amount]);
}

/** Mixes the `i`th value of a column of bytes into a checksum. */
function mixPacked(sum: number, bytes: Uint8Array, ends: Uint32Array, i: number): number {
  return mixBytes(sum, bytes, i === 0 ? 0 : ends[i - 1]!, ends[i]!);
}
