/**
 * A chain that grows like real ones, as decoded batches: wallets and tokens appear over time, some are hot, most return
 * rarely. Any block can be generated without its predecessors, so a run can be resumed anywhere. Pure.
 *
 * One in NEW_WALLET_EVERY transfers goes to a new wallet. Other wallets are chosen among a few hot ones, among recent
 * ones (by age, log-uniformly) and among all (Zipf, in no order of age). A transfer's token is one of its sender's few
 * tokens, or one chosen by popularity.
 *
 * Some transactions have two sides (growth-trades.ts). A transfer comes with some 0.16 buys and sells, half of them of
 * pools, and with some 0.09 new pairs of a trader and a token, as on recorded Ethereum blocks.
 */
import type { BlockBatch } from '../../../src/model/block-batch.ts';
import { TransferKind } from '../../../src/model/transfer-kind.ts';
import {
  FIRST_TOKENS,
  FIRST_WALLETS,
  knownWallet,
  NEW_TOKEN_EVERY,
  NEW_WALLET_EVERY,
  PartyTable,
  Random,
  receiverOf,
  tokenOf,
  tokenParty,
  walletParty,
  writeWords,
} from './growth-parties.ts';
import { launchMoves, type Move, type Scene, tradeMoves } from './growth-trades.ts';

export const TRANSFERS_PER_BLOCK = 250;
/** A token is launched at the start of a block. */
const BLOCKS_PER_TOKEN = NEW_TOKEN_EVERY / TRANSFERS_PER_BLOCK;
/** Share of the steps that compose a two-sided transaction; the others make one transfer. */
const TRADES = 0.108;
const START_TIME = 1_600_000_000;
const BLOCK_SECONDS = 2;
const HASH_WORDS = 8;
const MAX_VALUE_BYTES = 9;

/**
 * Kinds of the other transfers by share. With the two-sided transactions there are 60 % ERC-20, 6 % ERC-721, 4 %
 * ERC-1155, 21 % direct and 9 % internal native transfers.
 */
const KINDS = [
  { upTo: 0.6, kind: TransferKind.erc20 },
  { upTo: 0.675, kind: TransferKind.erc721 },
  { upTo: 0.73, kind: TransferKind.erc1155 },
  { upTo: 0.97, kind: TransferKind.nativeDirect },
  { upTo: 1, kind: TransferKind.nativeInternal },
];

const isNative = (kind: TransferKind): boolean =>
  kind === TransferKind.nativeDirect || kind === TransferKind.nativeInternal;

const hasNumber = (kind: TransferKind): boolean =>
  kind === TransferKind.erc721 || kind === TransferKind.erc1155;

/** Wallets and tokens that exist once `transfers` transfers were made. */
const walletsAfter = (transfers: number): number => FIRST_WALLETS + Math.ceil(transfers / NEW_WALLET_EVERY);
const tokensAt = (block: number): number => FIRST_TOKENS + Math.floor((block - 1) / BLOCKS_PER_TOKEN);

/** The transfers of one block. */
class BlockComposer {
  private readonly random: Random;
  private readonly number: number;
  private readonly add: AddMove;
  private readonly scene: Scene;
  private count = 0;
  /** Whether the next transfer may belong to the transaction of the one before. */
  private isOpen = false;

  constructor(number: number, add: AddMove) {
    this.number = number;
    this.add = add;
    this.random = new Random(number);
    const limit = walletsAfter(number * TRANSFERS_PER_BLOCK);
    this.scene = {
      random: this.random,
      wallets: walletsAfter((number - 1) * TRANSFERS_PER_BLOCK),
      tokens: tokensAt(number),
      newWallet: () => {
        const { wallets } = this.scene;
        if (wallets < limit) this.scene.wallets++;
        return wallets < limit ? wallets : knownWallet(this.random, wallets);
      },
    };
  }

  compose(): void {
    for (const moves of launchMoves(this.scene, (this.number - 1) % BLOCKS_PER_TOKEN)) this.addAll(moves);
    while (this.count < TRANSFERS_PER_BLOCK) {
      if (!this.random.chance(TRADES) || !this.addAll(tradeMoves(this.scene))) this.addOne();
    }
  }

  /** Adds the transaction, if the block has room for it. */
  private addAll(moves: readonly Move[]): boolean {
    if (this.count + moves.length > TRANSFERS_PER_BLOCK) return false;
    for (const [i, move] of moves.entries()) this.add(move, i === 0);
    this.count += moves.length;
    this.isOpen = false;
    return true;
  }

  private addOne(): void {
    const { random, scene } = this;
    const share = random.next();
    const kind = KINDS.find(({ upTo }) => share < upTo)?.kind ?? TransferKind.nativeInternal;
    const sender = knownWallet(random, scene.wallets);
    const token = isNative(kind) ? null : tokenOf(random, kind, sender, scene.tokens);
    const made = (this.number - 1) * TRANSFERS_PER_BLOCK + this.count;
    const isDue = scene.wallets < walletsAfter(made + 1);
    const receiver = isDue ? scene.newWallet() : receiverOf(random, token, scene.wallets);
    const startsTransaction = !this.isOpen || random.chance(0.65);
    this.add(
      {
        kind,
        from: walletParty(sender),
        to: walletParty(receiver),
        token: token === null ? null : tokenParty(token),
        amount: kind === TransferKind.erc721 ? 1n : random.amount(9),
        ...(hasNumber(kind) && { tokenId: random.amount(3) }),
      },
      startsTransaction,
    );
    this.count++;
    this.isOpen = true;
  }
}

/** The blocks `first` to `first + count - 1`; block 1 is the chain's first. */
export function growthBatch(first: number, count: number): BlockBatch {
  return batchOf(first, count, TRANSFERS_PER_BLOCK, (number, add) =>
    new BlockComposer(number, add).compose(),
  );
}

/** A block of two-sided transactions alone, as a busy head may have one. It is not of the growing chain. */
export function tradesBatch(number: number, transactions: number): BlockBatch {
  const random = new Random(number);
  const wallets = walletsAfter((number - 1) * TRANSFERS_PER_BLOCK);
  const newWallet = () => knownWallet(random, wallets);
  const scene: Scene = { random, wallets, tokens: tokensAt(number), newWallet };
  const composed = Array.from({ length: transactions }, () => tradeMoves(scene));
  return batchOf(number, 1, composed.flat().length, (_, add) => {
    for (const moves of composed) for (const [i, move] of moves.entries()) add(move, i === 0);
  });
}

type AddMove = (move: Move, startsTransaction: boolean) => void;

function batchOf(
  first: number,
  count: number,
  transfersPerBlock: number,
  compose: (number: number, add: AddMove) => void,
): BlockBatch {
  const transferCount = count * transfersPerBlock;
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
    skipped: [],
    gaps: [],
    unsettled: null,
    tracedBlock: null,
    renumbered: 0,
    upgraded: [],
  };
  let transfer = 0;
  let tx = -1;
  let amountEnd = 0;
  let numberEnd = 0;
  for (let block = 0; block < count; block++) {
    const number = first + block;
    let logIndex = 0;
    compose(number, (move, startsTransaction) => {
      const { kind, from, to, token } = move;
      const i = transfer++;
      if (startsTransaction) {
        tx++;
        writeWords(txHashes, tx * 32, (first - 1) * TRANSFERS_PER_BLOCK + i, HASH_WORDS);
      }
      batch.kind[i] = kind;
      batch.tx[i] = tx;
      batch.from[i] = parties.positionOf(from);
      batch.to[i] = parties.positionOf(to);
      batch.token[i] = token === null ? -1 : parties.positionOf(token);
      batch.logIndex[i] = isNative(kind) ? -1 : logIndex++;
      // An index stores no amount of an ERC-721.
      if (kind !== TransferKind.erc721) amountEnd = writeValue(amounts, amountEnd, move.amount);
      batch.amountEnd[i] = amountEnd;
      numberEnd = writeValue(tokenNumbers, numberEnd, move.tokenId ?? 0n);
      batch.tokenNumberEnd[i] = numberEnd;
    });
    batch.number[block] = number;
    batch.timestamp[block] = START_TIME + number * BLOCK_SECONDS;
    writeWords(batch.hash, block * 32, ~number, HASH_WORDS);
    writeWords(batch.parent, block * 32, ~(number - 1), HASH_WORDS);
    batch.transferEnd[block] = transfer;
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

/** Writes a value without leading zeros; returns the offset after it. */
function writeValue(out: Uint8Array, at: number, value: bigint): number {
  let end = at;
  for (let rest = value; rest > 0n; rest >>= 8n) end++;
  let rest = value;
  for (let i = end - 1; i >= at; i--, rest >>= 8n) out[i] = Number(rest & 0xffn);
  return end;
}
