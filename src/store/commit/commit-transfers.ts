/**
 * The transfers of a commit as columns, and the same transfers in the order in which the commit changes other tables:
 * by wallet, and by token and wallet. A commit then reads, changes and writes each row of `wallets` and `holdings`
 * once, in key order, and holds one row at a time in memory.
 */
import type { BlockBatch } from '../../model/block-batch.ts';
import { movesOne } from '../../model/transfer-kind.ts';

/** Marks a native transfer in the token column. */
export const NATIVE = -1;

/**
 * One side of a transfer: twice its position in the commit, plus 1 for the receiver. A transfer to oneself has only a
 * sender's side.
 */
export type Side = number;

export class CommitTransfers {
  readonly count: number;
  readonly kind: Uint8Array<ArrayBuffer>;
  /** Slots in CommitWallets. */
  readonly sender: Uint32Array<ArrayBuffer>;
  readonly receiver: Uint32Array<ArrayBuffer>;
  /** Position among the tokens of the commit, or NATIVE. */
  readonly token: Int32Array<ArrayBuffer>;
  /** Position of the first transfer of the same transaction. */
  readonly transactionStart: Uint32Array<ArrayBuffer>;
  readonly amounts: Uint8Array<ArrayBuffer>;
  private readonly amountEnds: Uint32Array<ArrayBuffer>;
  private filled = 0;
  private amountsFilled = 0;

  constructor(batches: readonly BlockBatch[]) {
    const total = (of: (batch: BlockBatch) => number) => batches.reduce((sum, batch) => sum + of(batch), 0);
    this.count = total(({ transferCount }) => transferCount);
    this.kind = new Uint8Array(this.count);
    this.sender = new Uint32Array(this.count);
    this.receiver = new Uint32Array(this.count);
    this.token = new Int32Array(this.count);
    this.transactionStart = new Uint32Array(this.count);
    this.amountEnds = new Uint32Array(this.count);
    this.amounts = new Uint8Array(total(({ amounts }) => amounts.length));
  }

  /** Memory used, bytes. */
  get memoryBytes(): number {
    return this.columns.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /**
   * Adds the transfers of a batch, whose addresses have these slots. The token column holds the slots of the contracts
   * until the commit numbers its tokens.
   */
  add(batch: BlockBatch, slots: Uint32Array): void {
    const { filled: base, amountsFilled } = this;
    this.kind.set(batch.kind, base);
    this.amounts.set(batch.amounts, amountsFilled);
    let start = base;
    for (let i = 0; i < batch.transferCount; i++) {
      const at = base + i;
      if (startsTransaction(batch, i)) start = at;
      this.transactionStart[at] = start;
      this.sender[at] = slots[batch.from[i]!]!;
      this.receiver[at] = slots[batch.to[i]!]!;
      this.token[at] = batch.token[i]! < 0 ? NATIVE : slots[batch.token[i]!]!;
      this.amountEnds[at] = amountsFilled + batch.amountEnd[i]!;
    }
    this.filled += batch.transferCount;
    this.amountsFilled += batch.amounts.length;
  }

  amountStart(at: number): number {
    return at === 0 ? 0 : this.amountEnds[at - 1]!;
  }

  amountEnd(at: number): number {
    return this.amountEnds[at]!;
  }

  /** Shortest big-endian bytes; empty for zero and for ERC-721. A view. */
  amountAt(at: number): Uint8Array {
    return this.amounts.subarray(this.amountStart(at), this.amountEnds[at]);
  }

  /** Whether the amount is zero. That of an ERC-721 transfer is 1 and not stored. */
  isZero(at: number): boolean {
    return !movesOne(this.kind[at]!) && this.amountStart(at) === this.amountEnds[at];
  }

  /** The slot of the wallet on a side. */
  walletOf(side: Side): number {
    return (side & 1) === 0 ? this.sender[side >>> 1]! : this.receiver[side >>> 1]!;
  }

  /** The sides of each wallet, in transfer order. */
  byWallet(wallets: number): Buckets {
    const sizes = new Uint32Array(wallets);
    for (let at = 0; at < this.count; at++) {
      sizes[this.sender[at]!]!++;
      if (this.sender[at] !== this.receiver[at]) sizes[this.receiver[at]!]!++;
    }
    const buckets = new Buckets(sizes);
    for (let at = 0; at < this.count; at++) {
      buckets.put(this.sender[at]!, 2 * at);
      if (this.sender[at] !== this.receiver[at]) buckets.put(this.receiver[at]!, 2 * at + 1);
    }
    return buckets;
  }

  /** The sides of each token, ordered by wallet. `walletOrder` lists the slots by ascending wallet id. */
  byToken(tokens: number, byWallet: Buckets, walletOrder: Uint32Array): Buckets {
    const sizes = new Uint32Array(tokens);
    for (const side of byWallet.sides)
      if (this.token[side >>> 1] !== NATIVE) sizes[this.token[side >>> 1]!]!++;
    const buckets = new Buckets(sizes);
    for (const slot of walletOrder) {
      for (let i = byWallet.start(slot); i < byWallet.end(slot); i++) {
        const side = byWallet.sides[i]!;
        if (this.token[side >>> 1] !== NATIVE) buckets.put(this.token[side >>> 1]!, side);
      }
    }
    return buckets;
  }

  /** Frees the columns. The garbage collector would keep those of several commits. */
  release(): void {
    for (const { buffer } of this.columns) buffer.transfer(0);
  }

  private get columns() {
    const { kind, sender, receiver, token, transactionStart, amounts, amountEnds } = this;
    return [kind, sender, receiver, token, transactionStart, amounts, amountEnds];
  }
}

/** Sides in buckets, by counting sort. Complete once every counted side is put. */
export class Buckets {
  readonly sides: Uint32Array<ArrayBuffer>;
  /** Where each bucket ends; while it is filled, where its next side goes. */
  private readonly ends: Uint32Array<ArrayBuffer>;

  /** Takes over `sizes`, the number of sides per bucket. */
  constructor(sizes: Uint32Array<ArrayBuffer>) {
    let next = 0;
    for (let bucket = 0; bucket < sizes.length; bucket++) {
      const size = sizes[bucket]!;
      sizes[bucket] = next;
      next += size;
    }
    this.ends = sizes;
    this.sides = new Uint32Array(next);
  }

  get memoryBytes(): number {
    return this.sides.byteLength + this.ends.byteLength;
  }

  put(bucket: number, side: Side): void {
    this.sides[this.ends[bucket]!++] = side;
  }

  start(bucket: number): number {
    return bucket === 0 ? 0 : this.ends[bucket - 1]!;
  }

  end(bucket: number): number {
    return this.ends[bucket]!;
  }

  release(): void {
    this.sides.buffer.transfer(0);
    this.ends.buffer.transfer(0);
  }
}

/** Whether transfer `i` of a batch is the first of its transaction. */
export function startsTransaction({ tx }: BlockBatch, i: number): boolean {
  return i === 0 || tx[i] !== tx[i - 1];
}
