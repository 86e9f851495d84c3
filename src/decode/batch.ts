/** Builds a batch of decoded transfers. */
import { UpstreamError } from '../lib/errors.ts';
import { type Hex, writeHex } from '../lib/hex.ts';
import type { BlockBatch, SkippedLogs, SkipReason } from '../model/block-batch.ts';
import { type BlockGap, type GapKind, NOT_TRACED } from '../model/block-gap.ts';

class GrowableBytes {
  bytes: Uint8Array;
  length = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Makes room for `count` more bytes and returns their offset. */
  reserve(count: number): number {
    const at = this.length;
    this.length += count;
    if (this.length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(this.length, this.bytes.length * 2));
      larger.set(this.bytes);
      this.bytes = larger;
    }
    return at;
  }

  push(byte: number): void {
    const at = this.reserve(1); // first, because it may replace `bytes`
    this.bytes[at] = byte;
  }

  /** Copies the bytes into a buffer of exactly their size. */
  toArray(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }
}

type NumberArray = Uint32Array | Int32Array | Float64Array;

class GrowableNumbers<A extends NumberArray> {
  length = 0;
  private values: A;
  private readonly make: new (
    length: number,
  ) => A;

  constructor(make: new (length: number) => A, capacity: number) {
    this.make = make;
    this.values = new make(capacity);
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new this.make(this.values.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  last(): number | undefined {
    return this.length === 0 ? undefined : this.values[this.length - 1];
  }

  /** Copies the numbers into a buffer of exactly their size. */
  toArray(): A {
    const exact = new this.make(this.length);
    exact.set(this.values.subarray(0, this.length));
    return exact;
  }
}

/** The buffers of a batch, as transferables for `postMessage`. */
export function batchBuffers(batch: BlockBatch): ArrayBuffer[] {
  return Object.values(batch).flatMap((column: unknown) =>
    ArrayBuffer.isView(column) && column.buffer instanceof ArrayBuffer ? [column.buffer] : [],
  );
}

/**
 * Frees the memory of a batch and leaves it empty. The buffers survive the young generation, and a full garbage
 * collection comes late because it sees only the small objects that hold them.
 */
export function releaseBatch(batch: BlockBatch): void {
  for (const buffer of batchBuffers(batch)) buffer.transfer(0);
}

/** Most contracts of a batch whose upgrades are noted. */
const MAX_UPGRADES = 200;

/** Most transfers of one block from range logs. Ranges are cheap to emit, so a block could claim a billion. */
const RANGE_IDS_PER_BLOCK = 100_000;

/** A state of a batch within a block. */
interface BatchMark {
  transfers: number;
  addresses: number;
  isTxStored: boolean;
}

/** Collects transfers block by block. `finish` returns the batch and leaves the builder unusable. */
export class BatchBuilder {
  /** Ids expanded from ranges in the current block. */
  private rangeIds = 0;
  private readonly blockNumber = new GrowableNumbers(Uint32Array, 64);
  private readonly timestamp = new GrowableNumbers(Float64Array, 64);
  private readonly hash = new GrowableBytes(64 * 32);
  private readonly parent = new GrowableBytes(64 * 32);
  private readonly transferEnd = new GrowableNumbers(Uint32Array, 64);
  private readonly addressEnd = new GrowableNumbers(Uint32Array, 64);
  private readonly addresses = new GrowableBytes(1024 * 20);
  private readonly txHashes = new GrowableBytes(1024 * 32);
  private readonly txFrom = new GrowableBytes(0);
  private readonly txTo = new GrowableBytes(0);
  private readonly kind = new GrowableBytes(1024);
  private readonly tx = new GrowableNumbers(Uint32Array, 1024);
  private readonly from = new GrowableNumbers(Uint32Array, 1024);
  private readonly to = new GrowableNumbers(Uint32Array, 1024);
  private readonly token = new GrowableNumbers(Int32Array, 1024);
  private readonly logIndex = new GrowableNumbers(Int32Array, 1024);
  private readonly amountEnd = new GrowableNumbers(Uint32Array, 1024);
  private readonly amounts = new GrowableBytes(1024 * 10);
  private readonly tokenNumberEnd = new GrowableNumbers(Uint32Array, 1024);
  private readonly tokenNumbers = new GrowableBytes(1024);
  private readonly gaps: BlockGap[] = [];
  /** What is missing of the current block, with the reason. */
  private readonly missing = new Map<GapKind, string>();
  /** See BlockBatch. */
  tracedBlock: number | null = null;
  private renumbered = 0;
  private readonly upgraded = new Set<Hex>();
  private readonly skipped: SkippedLogs[] = [];
  /** Those of the current block, by reason and contract. */
  private readonly skippedHere = new Map<string, Omit<SkippedLogs, 'block'>>();
  /** Maps 40 lower-case hex digits to the position in `addresses`. */
  private readonly addressIndex = new Map<string, number>();
  /** Hash of the current transaction, written with its first transfer. */
  private txHash = '';
  /** Its sender and receiver, `0x` and 40 digits; empty if unknown. */
  private txSender = '';
  private txReceiver = '';
  /** Whether the current transaction has a transfer. */
  isTxStored = false;

  get transferCount(): number {
    return this.kind.length;
  }

  get blockCount(): number {
    return this.blockNumber.length;
  }

  /** Drops what was pushed since the last block ended. */
  abandonBlock(): void {
    this.revert({
      transfers: this.transferEnd.last() ?? 0,
      addresses: this.addressEnd.last() ?? 0,
      isTxStored: false,
    });
    this.missing.clear();
    this.skippedHere.clear();
    this.rangeIds = 0;
  }

  /** What was pushed so far, to `revert` to. */
  mark(): BatchMark {
    return { transfers: this.kind.length, addresses: this.addressIndex.size, isTxStored: this.isTxStored };
  }

  /** Drops the transfers since a mark, also one that was pushed in part. */
  revert({ transfers, addresses, isTxStored }: BatchMark): void {
    this.kind.length = transfers;
    for (const column of [this.tx, this.from, this.to, this.token, this.logIndex]) column.length = transfers;
    this.amountEnd.length = transfers;
    this.amounts.length = this.amountEnd.last() ?? 0;
    this.tokenNumberEnd.length = transfers;
    this.tokenNumbers.length = this.tokenNumberEnd.last() ?? 0;
    const transactions = transfers === 0 ? 0 : (this.tx.last() ?? -1) + 1;
    this.txHashes.length = transactions * 32;
    if (this.txFrom.length > 0) this.txFrom.length = this.txTo.length = transactions * 20;
    for (const [digits, at] of this.addressIndex) if (at >= addresses) this.addressIndex.delete(digits);
    this.addresses.length = addresses * 20;
    this.isTxStored = isTxStored;
  }

  /** Ends the block of the transfers pushed since the last call. Hashes are `0x` + 64 digits. */
  endBlock(number: number, hash: string, parent: string, timestamp: number): void {
    this.blockNumber.push(number);
    this.timestamp.push(timestamp);
    this.appendHex(this.hash, hash, 2, 66, 'block hash');
    this.appendHex(this.parent, parent, 2, 66, 'parentHash');
    this.transferEnd.push(this.kind.length);
    this.addressEnd.push(this.addressIndex.size);
    this.rangeIds = 0;
    for (const [kind, reason] of this.missing) this.gaps.push({ kind, first: number, last: number, reason });
    this.missing.clear();
    for (const skipped of this.skippedHere.values()) this.skipped.push({ block: number, ...skipped });
    this.skippedHere.clear();
  }

  /** Reserves `count` ids of the current block's limit. Returns false when they exceed it. */
  reserveRangeIds(count: number): boolean {
    if (this.rangeIds + count > RANGE_IDS_PER_BLOCK) return false;
    this.rangeIds += count;
    return true;
  }

  /** Starts a transaction. It is stored only if a transfer follows. Addresses are `0x` and 40 digits. */
  beginTransaction(hash: string, from = '', to = ''): void {
    this.txHash = hash;
    this.txSender = from;
    this.txReceiver = to;
    this.isTxStored = false;
  }

  /**
   * Adds a transfer of the current transaction. Addresses are 40 hex digits without prefix; `token` is empty for a
   * native transfer. The amount is the hex digits `amountText[amountStart..amountEnd)`; `tokenNumberText` is the hex
   * digits of an NFT id, empty for none.
   */
  push(
    kind: number,
    from: string,
    to: string,
    token: string,
    logIndex: number,
    amountText: string,
    amountStart: number,
    amountEnd: number,
    tokenNumberText = '',
  ): void {
    if (!this.isTxStored) {
      this.storeTransaction();
    }
    this.kind.push(kind);
    this.tx.push(this.txHashes.length / 32 - 1);
    this.from.push(this.indexOfAddress(from));
    this.to.push(this.indexOfAddress(to));
    this.token.push(token === '' ? -1 : this.indexOfAddress(token));
    this.logIndex.push(logIndex);
    this.appendInteger(this.amounts, amountText, amountStart, amountEnd, 'amount');
    this.amountEnd.push(this.amounts.length);
    this.appendInteger(this.tokenNumbers, tokenNumberText, 0, tokenNumberText.length, 'token id');
    this.tokenNumberEnd.push(this.tokenNumbers.length);
  }

  private storeTransaction(): void {
    this.appendHex(this.txHashes, this.txHash, 2, 66, 'transaction hash');
    this.isTxStored = true;
    if (this.txSender === '') return;
    this.appendHex(this.txFrom, this.txSender, 2, 42, 'transaction from');
    this.appendHex(this.txTo, this.txReceiver, 2, 42, 'transaction to');
  }

  /** Counts a log that was not decoded. `contract`: `0x` text; null for a payment in a trace. */
  skip(reason: SkipReason, contract: string | null): void {
    this.countSkipped(reason, null);
    if (contract !== null) this.countSkipped(reason, `0x${contract.slice(2)}`);
  }

  private countSkipped(reason: SkipReason, contract: Hex | null): void {
    const key = `${reason} ${contract}`;
    const known = this.skippedHere.get(key);
    if (known !== undefined) known.logs++;
    else this.skippedHere.set(key, { reason, contract, logs: 1, txHash: `0x${this.txHash.slice(2)}` });
  }

  /** Makes the current block a gap. Of several reasons for one kind, the first is kept. */
  addGap(kind: GapKind, reason: string): void {
    if (!this.missing.has(kind)) this.missing.set(kind, reason);
  }

  /** Counts an internal payment that cannot be read. Its block lacks an internal transfer. */
  skipPayment(reason: SkipReason): void {
    this.addGap('trace', `a payment in the traces could not be read (${reason})`);
    this.skip(reason, null);
  }

  /** Notes a contract, lower-case `0x` text, that logged `Upgraded`. */
  noteUpgrade(address: Hex): void {
    if (this.upgraded.size < MAX_UPGRADES) this.upgraded.add(address);
  }

  /** Counts a block whose logs are not numbered throughout. */
  countRenumbered(): void {
    this.renumbered++;
  }

  /** `traced`: whether the batch includes the transfers found in traces. If not, all its blocks are gaps. */
  finish(traced: boolean): BlockBatch {
    const number = this.blockNumber.toArray();
    const isGap = !traced && number.length > 0;
    return {
      gaps: isGap
        ? [
            { kind: 'trace', first: number[0]!, last: number[number.length - 1]!, reason: NOT_TRACED },
            ...this.gaps.filter(({ kind }) => kind !== 'trace'),
          ]
        : this.gaps,
      unsettled: null,
      tracedBlock: this.tracedBlock,
      renumbered: this.renumbered,
      upgraded: [...this.upgraded],
      blockCount: this.blockNumber.length,
      transferCount: this.kind.length,
      number,
      timestamp: this.timestamp.toArray(),
      hash: this.hash.toArray(),
      parent: this.parent.toArray(),
      transferEnd: this.transferEnd.toArray(),
      addressEnd: this.addressEnd.toArray(),
      addresses: this.addresses.toArray(),
      txHashes: this.txHashes.toArray(),
      txFrom: this.txFrom.toArray(),
      txTo: this.txTo.toArray(),
      kind: this.kind.toArray(),
      tx: this.tx.toArray(),
      from: this.from.toArray(),
      to: this.to.toArray(),
      token: this.token.toArray(),
      logIndex: this.logIndex.toArray(),
      amountEnd: this.amountEnd.toArray(),
      amounts: this.amounts.toArray(),
      tokenNumberEnd: this.tokenNumberEnd.toArray(),
      tokenNumbers: this.tokenNumbers.toArray(),
      skipped: this.skipped,
    };
  }

  private indexOfAddress(digits: string): number {
    const known = this.addressIndex.get(digits);
    if (known !== undefined) return known;
    const lower = digits.toLowerCase();
    if (lower !== digits) return this.indexOfAddress(lower);
    const index = this.addressIndex.size;
    this.appendHex(this.addresses, digits, 0, 40, 'address');
    this.addressIndex.set(digits, index);
    return index;
  }

  private appendHex(to: GrowableBytes, text: string, start: number, end: number, what: string): void {
    const at = to.reserve((end - start) >> 1);
    if (text.length < end || !writeHex(text, start, end, to.bytes, at)) {
      throw new UpstreamError(
        'malformed',
        `the node sent ${JSON.stringify(text.slice(0, 80))} as ${what}, where ${end - start} hex digits belong`,
      );
    }
  }

  /** Appends the shortest big-endian bytes of the hex digits. Zero appends nothing. */
  private appendInteger(to: GrowableBytes, text: string, start: number, end: number, what: string): void {
    let first = start;
    while (first < end && text.charCodeAt(first) === 48) first++;
    if ((end - first) % 2 === 0) {
      this.appendHex(to, text, first, end, what);
    } else if (first > start) {
      this.appendHex(to, text, first - 1, end, what);
    } else {
      this.appendHex(to, `0${text.slice(first, end)}`, 0, end - first + 1, what);
    }
  }
}
