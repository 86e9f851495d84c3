/**
 * Removes blocks from the end: the exact inverse of append. Subtracts the removed transfers from counters and sums, and
 * re-reads first and latest transfers from what remains. A test checks that "append, roll back, append another branch"
 * equals, row for row, a fresh index of that branch.
 */
import { movesOne, TransferKind } from '../model/transfer-kind.ts';
import { EMPTY_INDEX, prepareLastBlock } from './chain.ts';
import { ChangeSet } from './commit/change-set.ts';
import type { Tables } from './commit/tables.ts';
import type { WalletState } from './commit/wallet-state.ts';
import type { Db, Statement } from './open-database.ts';
import type { OpenRewrite } from './rewrites.ts';
import { COUNTED_TRANSFER, type CountedTransfer, ZERO_WALLET } from './schema.ts';
import { DamageError } from './storage-error.ts';
import { ENTRIES_PER_PAGE, HistoryCursor, HistoryFlag } from './wallet-history.ts';

/**
 * Limits per transaction, which takes about a second. A deeper rollback runs in steps, and each step leaves a
 * consistent index.
 */
const BLOCKS_PER_STEP = 500;
const TRANSFERS_PER_STEP = 20_000;

/** Transfers per read. */
const TRANSFERS_PER_READ = 5_000;

const ONE = Uint8Array.of(1);
const NOTHING = new Uint8Array(0);

export class Rollback {
  private readonly db: Db;
  private readonly tables: Tables;
  private readonly lastBlock: ReturnType<typeof prepareLastBlock>;
  private readonly firstBlockWith: Statement<[number, number], number>;
  private readonly transfersAbove: Statement<[number, number], CountedTransfer>;
  private readonly pagesDescending: Statement<[number], Buffer>;
  private readonly senderOf: Statement<[number], number>;
  private readonly deletions: readonly { by: 'transfer' | 'wallet' | 'block'; statement: Statement }[];

  /** Wallets that lose history pages in this step. */
  private readonly shortened = new Set<number>();

  constructor(db: Db, tables: Tables) {
    this.db = db;
    this.tables = tables;
    this.lastBlock = prepareLastBlock(db);
    this.firstBlockWith = db
      .prepare<[number, number], number>(
        'SELECT number FROM blocks WHERE number >= ? AND last_transfer >= ? ORDER BY number LIMIT 1',
      )
      .pluck();
    this.transfersAbove = db.prepare(
      /* sql */ `SELECT ${COUNTED_TRANSFER} FROM transfers
        WHERE id > ? AND id < ? ORDER BY id DESC LIMIT ${TRANSFERS_PER_READ}`,
    );
    this.pagesDescending = db
      .prepare<[number], Buffer>('SELECT entries FROM activity WHERE wallet = ? ORDER BY first_transfer DESC')
      .pluck();
    this.senderOf = db.prepare<[number], number>('SELECT sender FROM transfers WHERE id = ?').pluck();
    this.deletions = [
      // No index covers first_transfer, but ids have the same order, so the scan stops at the first token that stays.
      {
        by: 'transfer',
        statement: db.prepare(/* sql */ `
          DELETE FROM tokens WHERE id > ifnull(
            (SELECT id FROM tokens WHERE first_transfer <= ? ORDER BY id DESC LIMIT 1), 0)`),
      },
      { by: 'wallet', statement: db.prepare('DELETE FROM wallets WHERE id > ?') },
      { by: 'transfer', statement: db.prepare('DELETE FROM transfers WHERE id > ?') },
      { by: 'block', statement: db.prepare('DELETE FROM blocks WHERE number > ?') },
      { by: 'block', statement: db.prepare('DELETE FROM block_parties WHERE number > ?') },
      { by: 'block', statement: db.prepare('DELETE FROM time_falls WHERE first > ?') },
      // Also affects tokens that stay: a balance read at a removed block proves nothing.
      { by: 'block', statement: db.prepare('DELETE FROM token_quality WHERE block > ?') },
      { by: 'block', statement: db.prepare('DELETE FROM wallet_code WHERE block > ?') },
    ];
  }

  /**
   * Removes as many blocks above `to` as fit one step, newest first. `head` is the last indexed block. With `rewrite`,
   * records that they are going to be read again. Returns whether `to` is reached.
   */
  step(head: number, to: number, rewrite?: OpenRewrite): boolean {
    const end = this.endOfStep(head, Math.max(to, head - BLOCKS_PER_STEP));
    this.db
      .transaction(() => {
        this.removeAbove(end);
        if (rewrite) this.tables.rewrites.record(end + 1, head, rewrite);
      })
      .immediate();
    return end === to;
  }

  /** The block that a step rolls back to: the lowest one in `lowest..head - 1` with few enough transfers above it. */
  private endOfStep(head: number, lowest: number): number {
    const keep = (this.lastBlock(head)?.lastTransfer ?? 0) - TRANSFERS_PER_STEP;
    if ((this.lastBlock(lowest)?.lastTransfer ?? 0) >= keep) return lowest;
    return Math.min(head - 1, this.firstBlockWith.get(lowest, keep) ?? lowest);
  }

  private removeAbove(to: number): void {
    const { lastTransfer, lastWallet } = this.lastBlock(to) ?? EMPTY_INDEX;
    const changes = new ChangeSet(this.tables);
    this.shortened.clear();
    const ownForm = this.tables.tokens.sumsOwnForm();
    for (const transfer of this.removedTransfers(lastTransfer)) this.subtract(changes, transfer, ownForm);
    const touched = changes.wallets.count; // restoring facts may load further wallets
    for (let slot = 0; slot < touched; slot++) {
      const wallet = changes.wallets.at(slot);
      if (wallet.id <= lastWallet) requireNonNegative(wallet);
      this.restoreFacts(changes, wallet, lastTransfer);
    }
    for (const token of changes.tokens.values()) this.tables.firstBuyers.rollback(token, lastTransfer);
    changes.save();
    this.tables.derived.rollback(changes.tokens.keys(), lastTransfer);
    for (const id of this.shortened) this.tables.counterpartySums.rollback(changes.wallet(id));
    const limit = { transfer: lastTransfer, wallet: lastWallet, block: to };
    this.tables.addresses.rollback(lastWallet);
    for (const { by, statement } of this.deletions) statement.run(limit[by]);
    this.tables.zoneMap.rollback(lastTransfer);
    this.tables.blockGaps.rollback(to);
    this.tables.anchors.rollback(to);
  }

  /** The transfers above `last`, newest first, read in pieces so that rows can be written in between. */
  private *removedTransfers(last: number): Generator<CountedTransfer> {
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const piece = this.transfersAbove.all(last, before);
      yield* piece;
      if (piece.length < TRANSFERS_PER_READ) return;
      before = piece[piece.length - 1]!.id;
    }
  }

  /** Subtracts one transfer from counters and sums. Transfers come newest first. */
  private subtract(changes: ChangeSet, transfer: CountedTransfer, sumsOwnForm: boolean): void {
    const sender = changes.wallet(transfer.sender);
    const receiver = changes.wallet(transfer.receiver);
    const transactionStart = typeof transfer.tx === 'number' ? transfer.id - transfer.tx : transfer.id;
    const isToSelf = sender.id === receiver.id;
    for (const wallet of isToSelf ? [sender] : [sender, receiver]) {
      this.subtractFromWallet(wallet, transactionStart, transfer.token !== null);
    }
    const amount = movesOne(transfer.kind) ? ONE : (transfer.amount ?? NOTHING);
    if (transfer.token === null) {
      sender.subtractSent(amount);
      receiver.subtractReceived(amount);
      if (transfer.kind === TransferKind.nativeInternal) receiver.internalReceived--;
      return;
    }
    const token = changes.token(transfer.token);
    token.transfers--;
    const { tokens } = this.tables;
    const moved = sumsOwnForm && transfer.kind !== token.kind ? NOTHING : amount;
    tokens.addToHolding(token, sender, moved, -1);
    tokens.subtractFromHolding(token, receiver, moved, isToSelf ? 0 : -1);
  }

  private subtractFromWallet(wallet: WalletState, transactionStart: number, isToken: boolean): void {
    this.removeEntry(wallet);
    if (isToken) wallet.tokenTransfers--;
    if (wallet.countedTransaction !== transactionStart) {
      wallet.countedTransaction = transactionStart;
      wallet.transactions--;
    }
  }

  /**
   * Drops one entry from the count. When the open page has none left, the newest finished page becomes the open one.
   */
  private removeEntry(wallet: WalletState): void {
    wallet.transfers--;
    if (wallet.recentCount === ENTRIES_PER_PAGE) {
      const page = this.tables.wallets.pages.takeNewest(wallet.id);
      if (!page) throw new DamageError(`the history of wallet ${wallet.id} lacks a page`);
      this.shortened.add(wallet.id);
      wallet.reopen(page);
    }
  }

  /** Truncates the open page and re-reads the facts that transfers above `last` had set. */
  private restoreFacts(changes: ChangeSet, wallet: WalletState, last: number): void {
    truncateRecent(wallet);
    if (wallet.transfers === 0) wallet.firstTransfer = null;
    wallet.firstDirect = keepUpTo(last, wallet.firstDirect);
    wallet.firstInternal = keepUpTo(last, wallet.firstInternal);
    wallet.latestDirect = this.latestReceived(wallet, wallet.latestDirect, TransferKind.nativeDirect, last);
    wallet.latestInternal = this.latestReceived(
      wallet,
      wallet.latestInternal,
      TransferKind.nativeInternal,
      last,
    );
    const funding = wallet.firstDirect ?? wallet.firstInternal;
    if (funding !== wallet.funding) {
      const funder = funding === null ? null : (this.senderOf.get(funding) ?? null);
      changes.setFunding(wallet, funder, funding);
    }
  }

  /**
   * The newest remaining native transfer of the kind from another wallet. Searches only if the known one is removed.
   */
  private latestReceived(
    wallet: WalletState,
    known: number | null,
    kind: number,
    last: number,
  ): number | null {
    if (known === null || known <= last) return known;
    const base = wallet.firstTransfer ?? 0;
    const recent = latestReceivedIn(wallet.recent, base, kind);
    if (recent !== null) return recent;
    for (const entries of this.pagesDescending.iterate(wallet.id)) {
      const found = latestReceivedIn(entries, base, kind);
      if (found !== null) return found;
    }
    return null;
  }
}

/** Throws when more was subtracted from a wallet than was ever added to it. */
function requireNonNegative(wallet: WalletState): void {
  const { id, transfers, transactions, tokenTransfers, internalReceived, hasNegativeSum } = wallet;
  const least = Math.min(transfers, transactions, tokenTransfers, internalReceived);
  if (least < 0 || hasNegativeSum)
    throw new DamageError(`the transfers of wallet ${id} add up to more than its stored sums`);
}

/** The fact, which is a transfer id; null if that transfer is removed. */
function keepUpTo(last: number, fact: number | null): number | null {
  return fact !== null && fact <= last ? fact : null;
}

/** Shortens the open page to the remaining entries and sets the last transfer from it. */
function truncateRecent(wallet: WalletState): void {
  const cursor = new HistoryCursor().open(wallet.recent, wallet.firstTransfer ?? 0);
  for (let remaining = wallet.recentCount; remaining > 0; remaining--) cursor.next();
  wallet.truncateRecent(cursor.offset);
  wallet.lastTransfer = wallet.transfers === 0 ? null : cursor.transfer;
}

/** Id of the newest entry of the kind received from another, non-zero wallet; null when the page has none. */
function latestReceivedIn(entries: Uint8Array, base: number, kind: number): number | null {
  const cursor = new HistoryCursor().open(entries, base);
  let latest: number | null = null;
  while (cursor.next()) {
    const isWanted =
      (cursor.flags & HistoryFlag.kindMask) === kind &&
      (cursor.flags & (HistoryFlag.in | HistoryFlag.out)) === HistoryFlag.in;
    if (isWanted && cursor.counterparty !== ZERO_WALLET) latest = cursor.transfer;
  }
  return latest;
}
