/**
 * The packed form of the senders and receivers of a block's transactions with transfers, in their order. Most are
 * parties of one of their own transfers, so an entry names a place among those: one byte for most transactions.
 *
 * Entry: a byte with the place of the sender, that of the receiver, and the number of transfers; then what did not fit,
 * as varints: the number of transfers - MAX_COUNT, the name of the sender, that of the receiver. A name is
 * - odd: a place, 2 * (3 * transfer + role) + 1;
 * - even, not 0: an outsider named before in the block, 2 * (its position + 1);
 * - 0: a new outsider. A varint follows, wallets.id + 1, or 0 before the 20 bytes of an address that is no wallet up to
 *   this block.
 */
import { bytesToDigits } from '../lib/hex.ts';
import { type BlockBatch, namesParties } from '../model/block-batch.ts';
import { rowChecksum } from './checksum.ts';
import { writeVarint } from './paged-history.ts';
import { ADDRESS_BYTES } from './schema.ts';

/** Who of a transfer. */
export const PartyRole = { sender: 0, receiver: 1, token: 2 } as const;
export const PARTY_ROLES = 3;

/** Places that the first byte names: roles in the first transfer, by their frequency. */
const FROM_PLACES: readonly number[] = [PartyRole.sender, PartyRole.receiver];
const TO_PLACES: readonly number[] = [PartyRole.receiver, PartyRole.token, PartyRole.sender];
/** Instead of a place: a name follows; and for a sender: the parties are unknown. */
const FROM_NAMED = 2;
const FROM_UNKNOWN = 3;
const TO_NAMED = 3;
/** The number of transfers from which on a varint follows. */
const MAX_COUNT = 16;

/** Longest entry, bytes. */
const MAX_ENTRY = 1 + 8 + 2 * (8 + 8 + ADDRESS_BYTES);

/** The id of a wallet that exists up to the end of the block; null if the address is none. */
type WalletOf = (bytes: Uint8Array, start: number) => number | null;

/** The checksum of a row of `block_parties`. */
export function partiesChecksum(number: number, parties: unknown): number {
  return rowChecksum(number, parties);
}

/** Packs blocks one after another. */
export class PartiesPacker {
  private out = new Uint8Array(1_024);
  private at = 0;
  /** The outsiders of the block, by the digits of their addresses. */
  private readonly outsiders = new Map<string, number>();

  /** The packed parties of block `i` of a batch, valid until the next call; null if none are known. */
  pack(batch: BlockBatch, i: number, walletOf: WalletOf): Uint8Array | null {
    this.at = 0;
    this.outsiders.clear();
    let isKnown = false;
    const end = batch.transferEnd[i]!;
    for (let start = i === 0 ? 0 : batch.transferEnd[i - 1]!, next = start; start < end; start = next) {
      const tx = batch.tx[start]!;
      while (next < end && batch.tx[next] === tx) next++;
      this.reserve();
      if (namesParties(batch, tx)) {
        isKnown = true;
        this.add(batch, start, next, walletOf);
      } else this.addHead(FROM_UNKNOWN, 0, next - start);
    }
    return isKnown ? this.out.subarray(0, this.at) : null;
  }

  private add(batch: BlockBatch, start: number, end: number, walletOf: WalletOf): void {
    const { txFrom, txTo } = batch;
    const address = batch.tx[start]! * ADDRESS_BYTES;
    const from = placeOf(batch, start, end, txFrom, address, FROM_PLACES);
    const to = placeOf(batch, start, end, txTo, address, TO_PLACES);
    const fromCode = from < 0 ? FROM_NAMED : FROM_PLACES.indexOf(from);
    const toCode = to < 0 ? TO_NAMED : TO_PLACES.indexOf(to);
    this.addHead(fromCode < 0 ? FROM_NAMED : fromCode, toCode < 0 ? TO_NAMED : toCode, end - start);
    if (fromCode < 0 || from < 0) this.addName(from, txFrom, address, walletOf);
    if (toCode < 0 || to < 0) this.addName(to, txTo, address, walletOf);
  }

  private addHead(from: number, to: number, count: number): void {
    this.out[this.at++] = from + 4 * to + 16 * (Math.min(count, MAX_COUNT) - 1);
    if (count >= MAX_COUNT) this.push(count - MAX_COUNT);
  }

  /** `place` is negative for an outsider. */
  private addName(place: number, bytes: Uint8Array, start: number, walletOf: WalletOf): void {
    if (place >= 0) return this.push(2 * place + 1);
    const address = bytes.subarray(start, start + ADDRESS_BYTES);
    const key = bytesToDigits(address);
    const known = this.outsiders.get(key);
    if (known !== undefined) return this.push(2 * (known + 1));
    this.outsiders.set(key, this.outsiders.size);
    this.push(0);
    const wallet = walletOf(bytes, start);
    this.push(wallet === null ? 0 : wallet + 1);
    if (wallet !== null) return;
    this.out.set(address, this.at);
    this.at += ADDRESS_BYTES;
  }

  private push(value: number): void {
    this.at = writeVarint(this.out, this.at, value);
  }

  private reserve(): void {
    if (this.at + MAX_ENTRY <= this.out.length) return;
    const larger = new Uint8Array(2 * this.out.length);
    larger.set(this.out);
    this.out = larger;
  }
}

/** The first place of an address among the transfers `start..end`, `first` before the others; negative for none. */
function placeOf(
  batch: BlockBatch,
  start: number,
  end: number,
  bytes: Uint8Array,
  at: number,
  first: readonly number[],
): number {
  for (const role of first) if (isAt(batch, start, role, bytes, at)) return role;
  for (let i = start; i < end; i++)
    for (let role = 0; role < PARTY_ROLES; role++)
      if (isAt(batch, i, role, bytes, at)) return PARTY_ROLES * (i - start) + role;
  return -1;
}

function isAt(batch: BlockBatch, i: number, role: number, bytes: Uint8Array, at: number): boolean {
  const column =
    role === PartyRole.sender ? batch.from : role === PartyRole.receiver ? batch.to : batch.token;
  const start = column[i]! * ADDRESS_BYTES;
  if (start < 0) return false;
  for (let k = 0; k < ADDRESS_BYTES; k++) if (batch.addresses[start + k] !== bytes[at + k]) return false;
  return true;
}

/**
 * A party of a transaction: a place among its transfers (`place` = 3 * transfer + role), the id of a wallet, or the hex
 * digits of an address.
 */
export type PackedParty = { place: number } | { wallet: number } | { address: string };

/** The parties of one transaction. */
export interface PackedPair {
  from: PackedParty;
  to: PackedParty;
}

/** Reads the entries of a block. The fields hold the current entry. */
export class PartiesCursor {
  /** Position of the transaction's first transfer in the block, and the number of its transfers. */
  first = 0;
  count = 0;
  private isKnown = false;
  /** Places, or the negative positions of outsiders, from -1. */
  private from = 0;
  private to = 0;
  private readonly outsiders: PackedParty[] = [];
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Steps to the next transaction; false at the end of the block. */
  next(): boolean {
    if (!(this.at < this.bytes.length)) return false; // also stops after a truncated entry, where the offset is NaN
    const head = this.bytes[this.at++]!;
    const from = head & 3;
    const to = (head >> 2) & 3;
    const count = (head >> 4) + 1;
    this.first += this.count;
    this.count = count < MAX_COUNT ? count : MAX_COUNT + this.varint();
    this.isKnown = from !== FROM_UNKNOWN;
    if (!this.isKnown) return true;
    this.from = from === FROM_NAMED ? this.name() : FROM_PLACES[from]!;
    this.to = to === TO_NAMED ? this.name() : TO_PLACES[to]!;
    return true;
  }

  /** Of the current transaction; null if unknown. */
  parties(): PackedPair | null {
    return this.isKnown ? { from: this.party(this.from), to: this.party(this.to) } : null;
  }

  private party(name: number): PackedParty {
    return name >= 0 ? { place: name } : (this.outsiders[-1 - name] ?? NOWHERE);
  }

  private name(): number {
    const name = this.varint();
    if (name % 2 === 1) return (name - 1) / 2;
    if (name > 0) return -name / 2;
    const wallet = this.varint();
    this.outsiders.push(wallet > 0 ? { wallet: wallet - 1 } : { address: this.address() });
    return -this.outsiders.length;
  }

  private address(): string {
    const start = this.at;
    this.at += ADDRESS_BYTES;
    return bytesToDigits(this.bytes.subarray(start, this.at));
  }

  private varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) {
        this.at = Number.NaN;
        return value;
      }
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }
}

/** Named by damaged bytes. */
const NOWHERE: PackedParty = { place: Number.MAX_SAFE_INTEGER };
