/**
 * Appends blocks: rows, counters and wallet facts of a batch in one transaction.
 *
 * In a large index, pages cost more than rows. A commit of 46,000 transfers on top of ten million changes 23,000 pages
 * of 8 KiB, half of them in `wallets` and a fifth in `addresses`. Each page is fetched, written to the WAL and
 * checkpointed. Hence the four rules of this folder: look up rows in page order (commit/address-resolver.ts); write a row right
 * after reading it (commit/token-state.ts); write rows in key order (commit/change-set.ts); make a commit as large as memory and disk allow
 * (indexer/adaptive-commit-size.ts). Preparing the next commit overlaps with the checkpoint of the last one; each takes
 * a third of the time.
 * In a small index, the work per row dominates. One more buffer per row costs as much as binding its statement, and
 * calling a statement as much as writing its row (row-writer.ts).
 */
import { type BlockBatch, packedHash, packedValue } from '../model/block-batch.ts';
import { isNativeKind, TransferKind } from '../model/transfer-kind.ts';
import { chainOf, EMPTY_INDEX, prepareLastBlock, type Tip } from './chain.ts';
import { mixBlock, mixBytes, mixInteger, mixNull, seedOf } from './checksum.ts';
import { addAddresses, resolveAddresses } from './commit/address-resolver.ts';
import { ChangeSet, type Tables } from './commit/change-set.ts';
import { TokenState } from './commit/token-state.ts';
import type { WalletState } from './commit/wallet-state.ts';
import type { Db, Statement } from './open-database.ts';
import { RowWriter } from './row-writer.ts';
import { ADDRESS_BYTES, packTokenKind, ZERO_WALLET } from './schema.ts';
import { HistoryFlag } from './wallet-history.ts';

/** The amount of an ERC-721 transfer. */
const ONE = Uint8Array.of(1);

export class Appender {
  private readonly db: Db;
  private readonly tables: Tables;
  private readonly insertBlock: Statement;
  private readonly transfers: RowWriter;
  private readonly lastBlock: ReturnType<typeof prepareLastBlock>;
  /** Memory used by the changes of the last commit, bytes. */
  changesBytes = 0;

  constructor(db: Db, tables: Tables) {
    this.db = db;
    this.tables = tables;
    this.insertBlock = db.prepare(
      /* sql */ `
      INSERT INTO blocks (number, hash, timestamp, last_transfer, last_wallet, transactions, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.transfers = new RowWriter(
      db,
      /* sql */ `
      INSERT INTO transfers (id, tx, sender, receiver, token_kind, amount, token_number, log_index)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.lastBlock = prepareLastBlock(db);
  }

  /** Reads the rows that a commit will change and sums up the changes. The batches must continue the chain. */
  prepare(batches: readonly BlockBatch[]): Commit {
    return this.db
      .transaction(() => {
        const commit = new Commit(this.tables, this.transfers, this.insertBlock);
        commit.load(batches, this.lastBlock());
        commit.sumUp();
        return commit;
      })
      .deferred();
  }

  /** Writes the commit in one transaction. Call it once, before any other append or rollback. */
  write(commit: Commit): void {
    this.db
      .transaction(() => {
        commit.writeRows(seedOf(chainOf(this.db)?.chainId ?? 0));
        if (commit.firstParent !== null) this.tables.anchors.setFirstParent(commit.firstParent);
        commit.changes.save();
        this.changesBytes = commit.changes.memoryBytes;
      })
      .immediate();
  }
}

/** A batch with the index ids of its addresses and transfers. */
interface ResolvedBatch {
  batch: BlockBatch;
  /** The slot in WalletStates of each address of the batch. */
  slots: Uint32Array;
  /** Entry `n` counts the new wallets among the first `n` addresses. */
  newWallets: Uint32Array;
  /** The highest ids before the batch. */
  lastTransfer: number;
  lastWallet: number;
}

/** One commit in progress. */
export class Commit {
  readonly changes: ChangeSet;
  /** Parent hash of the index's first block, if this commit contains that block. */
  firstParent: Uint8Array | null = null;
  private readonly transfers: RowWriter;
  private readonly insertBlock: Statement;
  private lastToken: number;
  /** Transactions with transfers, up to the last block written. */
  private transactions = 0;
  private readonly tokenOfWallet = new Map<number, TokenState>();
  private readonly resolvedBatches: ResolvedBatch[] = [];

  constructor(tables: Tables, transfers: RowWriter, insertBlock: Statement) {
    this.changes = new ChangeSet(tables);
    this.transfers = transfers;
    transfers.reset();
    this.insertBlock = insertBlock;
    this.lastToken = tables.tokens.lastId();
  }

  /** Loads the wallets of the batches. `tip` is the last indexed block. */
  load(batches: readonly BlockBatch[], tip: Tip | null): void {
    const [first] = batches;
    if (tip === null && first !== undefined) this.firstParent = packedHash(first.parent, 0);
    let { lastTransfer, lastWallet } = tip ?? EMPTY_INDEX;
    this.transactions = (tip ?? EMPTY_INDEX).transactions;
    const slots = batches.map((batch) => addAddresses(this.changes, batch.addresses));
    resolveAddresses(this.changes, lastWallet);
    for (const [i, batch] of batches.entries()) {
      const newWallets = this.cumulativeNewCounts(slots[i]!, lastWallet);
      this.resolvedBatches.push({ batch, slots: slots[i]!, newWallets, lastTransfer, lastWallet });
      lastTransfer += batch.transferCount;
      lastWallet += newWallets.at(-1) ?? 0;
    }
  }

  /** Applies the batches to the wallets and tokens in memory. */
  sumUp(): void {
    for (const { batch, slots, lastTransfer } of this.resolvedBatches) {
      let transactionStart = 0;
      for (let i = 0; i < batch.transferCount; i++) {
        const id = lastTransfer + 1 + i;
        if (startsTransaction(batch, i)) transactionStart = id;
        this.addTransfer(batch, i, id, transactionStart, slots);
      }
    }
  }

  /** Writes the rows of `transfers`, `blocks` and `untraced_blocks`. */
  writeRows(checksumSeed: number): void {
    for (const resolved of this.resolvedBatches) {
      this.writeBlocks(resolved, this.writeTransfers(resolved, checksumSeed));
    }
    this.transfers.flush();
  }

  /** Writes the transfers. Returns a checksum per block. */
  private writeTransfers({ batch, slots, lastTransfer }: ResolvedBatch, checksumSeed: number): Int32Array {
    const { transferEnd, amounts, amountEnd, tokenNumbers, tokenNumberEnd } = batch;
    const { wallets } = this.changes;
    const checksums = new Int32Array(batch.blockCount).fill(checksumSeed);
    let transactionStart = 0;
    let block = 0;
    for (let i = 0; i < batch.transferCount; i++) {
      while (i === transferEnd[block]) block++;
      const id = lastTransfer + 1 + i;
      const isFirst = startsTransaction(batch, i);
      if (isFirst) transactionStart = id;
      const kind = batch.kind[i]!;
      const logIndex = batch.logIndex[i]!;
      const hasNumber = kind === TransferKind.erc721 || kind === TransferKind.erc1155;
      const sender = wallets.idAt(slots[batch.from[i]!]!);
      const receiver = wallets.idAt(slots[batch.to[i]!]!);
      const token = isNativeKind(kind)
        ? null
        : this.tokenOfWallet.get(wallets.idAt(slots[batch.token[i]!]!))!;
      const tokenKind = token === null ? kind : packTokenKind(token.id, kind);
      this.transfers.add(
        id,
        isFirst ? packedHash(batch.txHashes, batch.tx[i]!) : id - transactionStart,
        sender,
        receiver,
        tokenKind,
        kind === TransferKind.erc721 ? null : packedValue(amounts, amountEnd, i),
        hasNumber ? packedValue(tokenNumbers, tokenNumberEnd, i) : null,
        logIndex < 0 ? null : logIndex,
      );
      let sum = checksums[block]!;
      const hashAt = batch.tx[i]! * 32;
      sum = isFirst
        ? mixBytes(sum, batch.txHashes, hashAt, hashAt + 32)
        : mixInteger(sum, id - transactionStart);
      sum = mixInteger(mixInteger(mixInteger(sum, sender), receiver), tokenKind);
      sum = kind === TransferKind.erc721 ? mixNull(sum) : mixPacked(sum, amounts, amountEnd, i);
      sum = hasNumber ? mixPacked(sum, tokenNumbers, tokenNumberEnd, i) : mixNull(sum);
      sum = logIndex < 0 ? mixNull(sum) : mixInteger(sum, logIndex);
      checksums[block] = token?.firstTransfer === id ? mixInteger(sum, token.wallet) : sum;
    }
    return checksums;
  }

  /** Writes the blocks. `checksums` cover the transfers of each block. */
  private writeBlocks(
    { batch, slots, newWallets, lastTransfer, lastWallet }: ResolvedBatch,
    checksums: Int32Array,
  ): void {
    for (let block = 0, address = 0, at = 0; block < batch.blockCount; block++) {
      let sum = checksums[block]!;
      for (; at < batch.transferEnd[block]!; at++) if (startsTransaction(batch, at)) this.transactions++;
      for (; address < batch.addressEnd[block]!; address++) {
        if (this.changes.wallets.idAt(slots[address]!) <= lastWallet) continue;
        sum = mixBytes(sum, batch.addresses, address * ADDRESS_BYTES, (address + 1) * ADDRESS_BYTES);
      }
      const number = batch.number[block]!;
      const hash = packedHash(batch.hash, block);
      const timestamp = batch.timestamp[block]!;
      const transfer = lastTransfer + batch.transferEnd[block]!;
      const wallet = lastWallet + newWallets[batch.addressEnd[block]!]!;
      const checksum = mixBlock(sum, number, hash, timestamp, transfer, wallet, this.transactions);
      this.insertBlock.run(number, hash, timestamp, transfer, wallet, this.transactions, checksum);
    }
    if (!batch.traced) {
      const last = batch.number[batch.blockCount - 1]!;
      this.changes.tables.traceGaps.append({ first: batch.number[0]!, last });
    }
  }

  /** Entry `n` counts the new wallets, those with ids above `lastKnown`, among the first `n`. */
  private cumulativeNewCounts(slots: Uint32Array, lastKnown: number): Uint32Array {
    const counts = new Uint32Array(slots.length + 1);
    for (let i = 0; i < slots.length; i++)
      counts[i + 1] = counts[i]! + Number(this.changes.wallets.idAt(slots[i]!) > lastKnown);
    return counts;
  }

  private findOrCreateToken(wallet: number, id: number, kind: number): TokenState {
    let token = this.tokenOfWallet.get(wallet);
    if (!token) {
      token =
        this.changes.tables.tokens.findByWallet(wallet) ??
        new TokenState(
          {
            id: ++this.lastToken,
            wallet,
            transfers: 0,
            holders: 0,
            wallets: 0,
            buyers: 0,
            first_transfer: id,
            kind,
          },
          false,
        );
      this.tokenOfWallet.set(wallet, token);
      this.changes.tokens.set(token.id, token);
    }
    return token;
  }

  private addTransfer(
    batch: BlockBatch,
    i: number,
    id: number,
    transactionStart: number,
    slots: Uint32Array,
  ): void {
    const { wallets } = this.changes;
    const kind = batch.kind[i]!;
    const sender = wallets.at(slots[batch.from[i]!]!);
    const receiver = wallets.at(slots[batch.to[i]!]!);
    const amount = packedValue(batch.amounts, batch.amountEnd, i);
    const native = isNativeKind(kind);
    const token = native ? null : this.findOrCreateToken(wallets.idAt(slots[batch.token[i]!]!), id, kind);
    this.addActivity(id, kind, sender, receiver, amount, native, transactionStart);
    if (token === null) this.addNativeTransfer(id, kind, sender, receiver, amount);
    else this.addTokenTransfer(id, token, sender, receiver, kind === TransferKind.erc721 ? ONE : amount);
  }

  private addActivity(
    id: number,
    kind: number,
    sender: WalletState,
    receiver: WalletState,
    amount: Uint8Array,
    native: boolean,
    transactionStart: number,
  ): void {
    const wei = native ? amount : null;
    const flags = kind | (amount.length === 0 && kind !== TransferKind.erc721 ? HistoryFlag.zero : 0);
    if (sender.slot === receiver.slot) {
      this.addEntry(sender, id, flags | HistoryFlag.out | HistoryFlag.in, receiver.id, wei, transactionStart);
    } else {
      this.addEntry(sender, id, flags | HistoryFlag.out, receiver.id, wei, transactionStart);
      this.addEntry(receiver, id, flags | HistoryFlag.in, sender.id, wei, transactionStart);
    }
  }

  private addEntry(
    wallet: WalletState,
    id: number,
    flags: number,
    other: number,
    wei: Uint8Array | null,
    transactionStart: number,
  ): void {
    const finished = wallet.addEntry(id, flags, other, wei);
    if (finished) this.changes.finishedRuns.push(finished);
    if (wei === null) wallet.tokenTransfers++;
    if (wallet.countedTransaction !== transactionStart) {
      wallet.countedTransaction = transactionStart;
      wallet.transactions++;
    }
  }

  private addNativeTransfer(
    id: number,
    kind: number,
    sender: WalletState,
    receiver: WalletState,
    amount: Uint8Array,
  ): void {
    sender.addSent(amount);
    receiver.addReceived(amount);
    this.changes.zoneMap.record(id, amount);
    if (kind === TransferKind.nativeInternal) receiver.internalReceived++;
    if (sender.slot === receiver.slot || sender.id === ZERO_WALLET) return; // self-transfers and mints fund no wallet
    if (kind === TransferKind.nativeDirect) {
      receiver.latestDirect = id;
      if (receiver.firstDirect === null) {
        receiver.firstDirect = id;
        this.changes.setFunding(receiver, sender.id, id);
      }
    } else {
      receiver.latestInternal = id;
      receiver.firstInternal ??= id;
      if (receiver.funding === null) this.changes.setFunding(receiver, sender.id, id);
    }
  }

  private addTokenTransfer(
    id: number,
    token: TokenState,
    sender: WalletState,
    receiver: WalletState,
    amount: Uint8Array,
  ): void {
    token.transfers++;
    const { tokens } = this.changes.tables;
    tokens.subtractFromHolding(token, sender, amount, 1);
    tokens.addToHolding(token, receiver, amount, sender.slot === receiver.slot ? 0 : 1);
    if (amount.length > 0) tokens.recordBuyer(token, receiver.id, id);
  }
}

/** Mixes the `i`th value of a column of bytes into a checksum. */
function mixPacked(sum: number, bytes: Uint8Array, ends: Uint32Array, i: number): number {
  return mixBytes(sum, bytes, i === 0 ? 0 : ends[i - 1]!, ends[i]!);
}

/** Whether transfer `i` is the first of its transaction. */
function startsTransaction({ tx }: BlockBatch, i: number): boolean {
  return i === 0 || tx[i] !== tx[i - 1];
}
