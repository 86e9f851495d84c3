/**
 * A chain that grows like real ones, as decoded batches: wallets and tokens appear over time, some are hot, most return
 * rarely. Any block can be generated without its predecessors, so a run can be resumed anywhere. Pure.
 *
 * One in NEW_WALLET_EVERY transfers goes to a new wallet. Other wallets are chosen among a few hot ones, among recent
 * ones (by age, log-uniformly) and among all (Zipf, in no order of age). A transfer's token is one of its sender's few
 * tokens, or one chosen by popularity.
 */
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import { ADDRESS_BYTES } from '../../../src/store/schema.ts';

export const TRANSFERS_PER_BLOCK = 250;
const NEW_WALLET_EVERY = 9;
const FIRST_WALLETS = 1_000;
const NEW_TOKEN_EVERY = 1_500;
const FIRST_TOKENS = 50;
const HOT_WALLETS = 500;
/** Tokens that a wallet sends repeatedly. */
const OWN_TOKENS = 2;
/** Share of token transfers to known wallets that go to the token's trader. */
const TO_TRADER = 0.45;
const START_TIME = 1_600_000_000;
const BLOCK_SECONDS = 2;
const HASH_WORDS = 8;
const MAX_VALUE_BYTES = 10;

/** Kinds by share: 60 % ERC-20, 6 % ERC-721, 4 % ERC-1155, 22 % direct and 8 % internal native transfers. */
const KINDS = [
  { upTo: 0.6, kind: TransferKind.erc20 },
  { upTo: 0.66, kind: TransferKind.erc721 },
  { upTo: 0.7, kind: TransferKind.erc1155 },
  { upTo: 0.92, kind: TransferKind.nativeDirect },
  { upTo: 1, kind: TransferKind.nativeInternal },
];

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** Numbers in [0, 1) derived from a seed. */
class Random {
  private state: number;

  constructor(seed: number) {
    this.state = mix(seed ^ 0x5bd1e995) || 1;
  }

  next(): number {
    let state = this.state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.state = state;
    return (state >>> 0) / 2 ** 32;
  }

  /** A whole number below `limit`; a higher `skew` makes low ones likelier. */
  below(limit: number, skew = 1): number {
    return Math.floor(limit * this.next() ** skew);
  }
}

/** Wallets and token contracts share one numbering: even for wallets, odd for contracts. */
type Party = number;

/** Positions of the distinct parties of a batch. */
class PartyTable {
  readonly parties: Party[] = [];
  private readonly positions = new Map<Party, number>();

  positionOf(party: Party): number {
    let position = this.positions.get(party);
    if (position === undefined) {
      position = this.parties.length;
      this.positions.set(party, position);
      this.parties.push(party);
    }
    return position;
  }

  addresses(): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(this.parties.length * ADDRESS_BYTES);
    for (const [i, party] of this.parties.entries()) writeWords(bytes, i * ADDRESS_BYTES, party, 5);
    return bytes;
  }
}

function writeWords(bytes: Buffer, at: number, seed: number, words: number): void {
  for (let word = 0; word < words; word++)
    bytes.writeUInt32LE(mix(mix(seed) + Math.imul(word + 1, 0x9e3779b9)), at + 4 * word);
}

/** Any wallet but the newest, whose number is `count`. */
function knownWallet(random: Random, count: number): number {
  const choice = random.next();
  if (choice < 0.45) return random.below(HOT_WALLETS, 3);
  if (choice < 0.75) return count - Math.ceil(count ** (random.next() ** 1.25));
  const bits = Math.floor(Math.log2(count));
  const rank = random.below(2 ** bits, 3);
  return Math.imul(rank, 0x9e3779b1) & (2 ** bits - 1);
}

function tokenOf(random: Random, sender: number, count: number): number {
  if (random.next() < 0.2) return random.below(count, 4);
  const own = new Random(sender * OWN_TOKENS + random.below(OWN_TOKENS));
  // Tokens that existed when the wallet appeared, because a choice must not change later.
  const then = Math.min(count, FIRST_TOKENS + Math.floor((sender * NEW_WALLET_EVERY) / NEW_TOKEN_EVERY));
  return own.below(then, 4);
}

/** A new wallet, the hot wallet that trades the token, or any known one. */
function receiverOf(random: Random, token: number | null, wallets: number, isNew: boolean): number {
  if (isNew) return wallets;
  if (token !== null && random.next() < TO_TRADER) return mix(token) % HOT_WALLETS;
  return knownWallet(random, wallets);
}

/** The blocks `first` to `first + count - 1`; block 1 is the chain's first. */
export function growthBatch(first: number, count: number): BlockBatch {
  const transferCount = count * TRANSFERS_PER_BLOCK;
  const parties = new PartyTable();
  const txHashes = Buffer.allocUnsafeSlow(transferCount * 32);
  const amounts = new Uint8Array(transferCount * MAX_VALUE_BYTES);
  const tokenNumbers = new Uint8Array(transferCount * MAX_VALUE_BYTES);
  const batch = {
    blockCount: count,
    transferCount,
    number: new Uint32Array(count),
    timestamp: new Float64Array(count),
    hash: Buffer.allocUnsafeSlow(count * 32),
    parent: Buffer.allocUnsafeSlow(count * 32),
    transferEnd: new Uint32Array(count),
    addressEnd: new Uint32Array(count),
    kind: new Uint8Array(transferCount),
    tx: new Uint32Array(transferCount),
    from: new Uint32Array(transferCount),
    to: new Uint32Array(transferCount),
    token: new Int32Array(transferCount),
    logIndex: new Int32Array(transferCount),
    amountEnd: new Uint32Array(transferCount),
    tokenNumberEnd: new Uint32Array(transferCount),
    skipped: {},
    skippedIn: {},
    gaps: [],
    unsettled: null,
    tracedBlock: null,
    renumbered: 0,
    upgraded: [],
  };
  let tx = -1;
  let amountEnd = 0;
  let numberEnd = 0;
  for (let block = 0; block < count; block++) {
    const number = first + block;
    const random = new Random(number);
    let logIndex = 0;
    for (let n = 0; n < TRANSFERS_PER_BLOCK; n++) {
      const i = block * TRANSFERS_PER_BLOCK + n;
      const id = (number - 1) * TRANSFERS_PER_BLOCK + n;
      const wallets = FIRST_WALLETS + Math.floor(id / NEW_WALLET_EVERY);
      const share = random.next();
      const kind = KINDS.find(({ upTo }) => share < upTo)!.kind;
      const isNative = kind === TransferKind.nativeDirect || kind === TransferKind.nativeInternal;
      const sender = knownWallet(random, wallets);
      const token = isNative
        ? null
        : tokenOf(random, sender, FIRST_TOKENS + Math.floor(id / NEW_TOKEN_EVERY));
      const receiver = receiverOf(random, token, wallets, id % NEW_WALLET_EVERY === 0);
      if (n === 0 || random.next() < 0.65) {
        tx++;
        writeWords(txHashes, tx * 32, id, HASH_WORDS);
      }
      batch.kind[i] = kind;
      batch.tx[i] = tx;
      batch.from[i] = parties.positionOf(sender * 2);
      batch.to[i] = parties.positionOf(receiver * 2);
      batch.token[i] = token === null ? -1 : parties.positionOf(token * 2 + 1);
      batch.logIndex[i] = isNative ? -1 : logIndex++;
      amountEnd = writeValue(random, amounts, amountEnd, kind === TransferKind.erc721 ? 0 : 9);
      batch.amountEnd[i] = amountEnd;
      numberEnd = writeValue(
        random,
        tokenNumbers,
        numberEnd,
        kind === TransferKind.erc721 || kind === TransferKind.erc1155 ? 3 : 0,
      );
      batch.tokenNumberEnd[i] = numberEnd;
    }
    batch.number[block] = number;
    batch.timestamp[block] = START_TIME + number * BLOCK_SECONDS;
    writeWords(batch.hash, block * 32, ~number, HASH_WORDS);
    writeWords(batch.parent, block * 32, ~(number - 1), HASH_WORDS);
    batch.transferEnd[block] = (block + 1) * TRANSFERS_PER_BLOCK;
    batch.addressEnd[block] = parties.parties.length;
  }
  return {
    ...batch,
    addresses: parties.addresses(),
    txFrom: new Uint8Array(0),
    txTo: new Uint8Array(0),
    txHashes: txHashes.subarray(0, (tx + 1) * 32),
    amounts: amounts.subarray(0, amountEnd),
    tokenNumbers: tokenNumbers.subarray(0, numberEnd),
  };
}

/** Writes a value of up to `bytes` bytes without leading zeros; returns the offset after it. */
function writeValue(random: Random, out: Uint8Array, at: number, bytes: number): number {
  if (bytes === 0) return at;
  const length = Math.ceil(bytes * random.next() ** 0.5);
  for (let i = 0; i < length; i++) out[at + i] = i === 0 ? 1 + random.below(255) : random.below(256);
  return at + length;
}
