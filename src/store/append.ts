/**
 * Writing blocks: rows, counters and facts of a batch in one transaction.
 *
 * In a large index the time goes into pages, not rows: a commit of 46,000 transfers on top of ten million changes
 * 23,000 pages of 8 KiB, half of them of `wallets` and a fifth of `addresses`. Each is fetched, written to the WAL and
 * checkpointed. So lookups go in page order (address-resolver.ts), a row is written right after it is read (token-state.ts),
 * rows are written in key order (change-set.ts), and a commit is as large as the WAL may get (writer/commit-sizer.ts).
 * Otherwise only the work per row counts: one more buffer per row costs as much as binding its statement, and calling
 * a statement as much as writing its row (row-writer.ts).
 */
import { bytesToBigInt } from '../lib/hex.ts';
import { packedValue } from '../lib/packed-bytes.ts';
import { type BlockBatch, isNativeKind, TransferKind } from '../types.ts';
import { ActivityFlag } from './activity.ts';
import { AddressResolver } from './address-resolver.ts';
import { ChangeSet, type Tables } from './change-set.ts';
import type { Db, Statement } from './open-database.ts';
import { RowWriter } from './row-writer.ts';
import { packTokenKind, ZERO_WALLET } from './schema.ts';
import { TokenState } from './token-state.ts';
import type { WalletState } from './wallet-state.ts';

export class Appender {
  private readonly db: Db;
  private readonly tables: Tables;
  private readonly insertBlock: Statement;
  private readonly transfers: RowWriter;
  private readonly lastIds: Statement<[], { last_transfer: number; last_wallet: number }>;

  constructor(db: Db, tables: Tables) {
    this.db = db;
    this.tables = tables;
    this.insertBlock = db.prepare(
      'INSERT INTO blocks (number, hash, timestamp, last_transfer, last_wallet) VALUES (?, ?, ?, ?, ?)',
    );
    this.transfers = new RowWriter(
      db,
      /* sql */ `
      INSERT INTO transfers (id, tx, sender, receiver, token_kind, amount, token_number, log_index)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.lastIds = db.prepare('SELECT last_transfer, last_wallet FROM blocks ORDER BY number DESC LIMIT 1');
  }

  /** Reads what a commit will change. The batches must follow the last indexed block and each other. */
  prefetch(batches: readonly BlockBatch[]): Commit {
    return this.db
      .transaction(() => {
        const commit = new Commit(this.tables, this.transfers, this.insertBlock, this.lastIds.get());
        commit.load(batches);
        return commit;
      })
      .deferred();
  }

  /** Writes the commit in one transaction. Call it once, before anything else is appended or rolled back. */
  write(commit: Commit): void {
    this.db
      .transaction(() => {
        commit.apply();
        commit.changes.save();
      })
      .immediate();
  }
}

/** One commit in progress. */
export class Commit {
  readonly changes: ChangeSet;
  private readonly transfers: RowWriter;
  private readonly insertBlock: Statement;
  private lastTransfer: number;
  private lastWallet: number;
  private lastToken: number;
  private readonly tokenOfWallet = new Map<number, TokenState>();
  private readonly resolvedBatches: { batch: BlockBatch; wallets: WalletState[] }[] = [];

  constructor(
    tables: Tables,
    transfers: RowWriter,
    insertBlock: Statement,
    last: { last_transfer: number; last_wallet: number } | undefined,
  ) {
    this.changes = new ChangeSet(tables);
    this.transfers = transfers;
    transfers.reset();
    this.insertBlock = insertBlock;
    this.lastTransfer = last?.last_transfer ?? 0;
    this.lastWallet = last?.last_wallet ?? ZERO_WALLET;
    this.lastToken = tables.tokens.lastId();
  }

  /** Reads the wallets of the batches. */
  load(batches: readonly BlockBatch[]): void {
    const addresses = new AddressResolver(batches.reduce((sum, batch) => sum + batch.addresses.length, 0));
    const positions = batches.map((batch) => addresses.add(batch.addresses));
    const wallets = addresses.resolve(this.changes, this.lastWallet);
    for (const [i, batch] of batches.entries()) {
      this.resolvedBatches.push({
        batch,
        wallets: Array.from(positions[i]!, (position) => wallets[position]!),
      });
    }
  }

  /** Writes the rows of the batches and sums up what they change. */
  apply(): void {
    for (const { batch, wallets } of this.resolvedBatches) this.applyBatch(batch, wallets);
    this.transfers.flush();
  }

  private applyBatch(batch: BlockBatch, wallets: readonly WalletState[]): void {
    const firstNew = this.lastWallet;
    const newByAddress = cumulativeNewCounts(wallets, firstNew);
    let transfer = 0;
    let transactionStart = 0;
    for (let block = 0; block < batch.blockCount; block++) {
      for (const end = batch.transferEnd[block]!; transfer < end; transfer++) {
        const id = ++this.lastTransfer;
        if (transfer === 0 || batch.tx[transfer] !== batch.tx[transfer - 1]) transactionStart = id;
        this.applyTransfer(batch, transfer, id, transactionStart, wallets);
      }
      this.lastWallet = firstNew + newByAddress[batch.addressEnd[block]!]!;
      const hash = batch.hash.subarray(block * 32, block * 32 + 32);
      this.insertBlock.run(
        batch.number[block],
        hash,
        batch.timestamp[block],
        this.lastTransfer,
        this.lastWallet,
      );
    }
    if (!batch.traced) {
      const last = batch.number[batch.blockCount - 1]!;
      this.changes.tables.untraced.append({ first: batch.number[0]!, last });
    }
  }

  private findOrCreateToken(wallet: WalletState, id: number, kind: number): TokenState {
    let token = this.tokenOfWallet.get(wallet.id);
    if (!token) {
      token =
        this.changes.tables.tokens.findByWallet(wallet.id) ??
        new TokenState(
          {
            id: ++this.lastToken,
            wallet: wallet.id,
            transfers: 0,
            holders: 0,
            wallets: 0,
            buyers: 0,
            first_transfer: id,
            kind,
          },
          false,
        );
      this.tokenOfWallet.set(wallet.id, token);
      this.changes.tokens.set(token.id, token);
    }
    return token;
  }

  private applyTransfer(
    batch: BlockBatch,
    i: number,
    id: number,
    transactionStart: number,
    wallets: readonly WalletState[],
  ): void {
    const kind = batch.kind[i]!;
    const sender = wallets[batch.from[i]!]!;
    const receiver = wallets[batch.to[i]!]!;
    const amount = packedValue(batch.amounts, batch.amountEnd, i);
    const native = isNativeKind(kind);
    const token = native ? null : this.findOrCreateToken(wallets[batch.token[i]!]!, id, kind);

    const tx =
      id === transactionStart
        ? batch.txHashes.subarray(batch.tx[i]! * 32, batch.tx[i]! * 32 + 32)
        : id - transactionStart;
    const hasNumber = kind === TransferKind.erc721 || kind === TransferKind.erc1155;
    const number = hasNumber ? packedValue(batch.tokenNumbers, batch.tokenNumberEnd, i) : null;
    const logIndex = batch.logIndex[i]!;
    this.transfers.add(
      id,
      tx,
      sender.id,
      receiver.id,
      token === null ? kind : packTokenKind(token.id, kind),
      kind === TransferKind.erc721 ? null : amount,
      number,
      logIndex < 0 ? null : logIndex,
    );

    this.applyActivity(id, kind, sender, receiver, amount, native, transactionStart);
    if (token === null) this.applyNativeTransfer(id, kind, sender, receiver, amount);
    else
      this.applyTokenTransfer(
        id,
        token,
        sender,
        receiver,
        kind === TransferKind.erc721 ? 1n : bytesToBigInt(amount),
      );
  }

  private applyActivity(
    id: number,
    kind: number,
    sender: WalletState,
    receiver: WalletState,
    amount: Uint8Array,
    native: boolean,
    transactionStart: number,
  ): void {
    const wei = native ? amount : null;
    const flags = kind | (amount.length === 0 && kind !== TransferKind.erc721 ? ActivityFlag.zero : 0);
    if (sender === receiver) {
      this.applyEntry(
        sender,
        id,
        flags | ActivityFlag.out | ActivityFlag.in,
        receiver.id,
        wei,
        transactionStart,
      );
    } else {
      this.applyEntry(sender, id, flags | ActivityFlag.out, receiver.id, wei, transactionStart);
      this.applyEntry(receiver, id, flags | ActivityFlag.in, sender.id, wei, transactionStart);
    }
  }

  private applyEntry(
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

  private applyNativeTransfer(
    id: number,
    kind: number,
    sender: WalletState,
    receiver: WalletState,
    amount: Uint8Array,
  ): void {
    const wei = bytesToBigInt(amount);
    sender.nativeSent += wei;
    receiver.nativeReceived += wei;
    this.changes.nativePeaks.record(id, amount);
    if (kind === TransferKind.nativeInternal) receiver.internalReceived++;
    if (sender === receiver || sender.id === ZERO_WALLET) return; // no wallet funds itself, the zero address none
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

  private applyTokenTransfer(
    id: number,
    token: TokenState,
    sender: WalletState,
    receiver: WalletState,
    amount: bigint,
  ): void {
    token.transfers++;
    const { tokens } = this.changes.tables;
    tokens.addToHolding(token, sender, -amount, 1);
    tokens.addToHolding(token, receiver, amount, sender === receiver ? 0 : 1);
    if (amount > 0n) tokens.recordBuyer(token, receiver.id, id);
  }
}

/** For each prefix of a batch's addresses, how many of them are new, that is have ids above `lastKnown`. */
function cumulativeNewCounts(wallets: readonly WalletState[], lastKnown: number): Uint32Array {
  const counts = new Uint32Array(wallets.length + 1);
  for (let i = 0; i < wallets.length; i++) counts[i + 1] = counts[i]! + (wallets[i]!.id > lastKnown ? 1 : 0);
  return counts;
}
