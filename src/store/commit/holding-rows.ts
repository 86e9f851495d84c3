/** Writes the rows of `tokens`, `holdings` and the tables that follow from them. */
import { ascendingOrder } from '../../lib/ascending-order.ts';
import { movesOne } from '../../model/transfer-kind.ts';
import { ROWS_PER_STATEMENT } from '../rows.ts';
import { MAX_FIRST_BUYERS, ZERO_WALLET } from '../schema.ts';
import type { Buyer } from '../tokens/first-buyers.ts';
import type { Commit } from './commit.ts';
import type { Buckets, CommitTransfers, Side } from './commit-transfers.ts';
import { ROWS_PER_STEP } from './on-step.ts';
import type { Tables } from './tables.ts';
import type { StoredHolding, TokenState } from './token-state.ts';
import { SUM_WORDS, WideSums } from './wide-sums.ts';

/** The amount of an ERC-721 transfer. */
const ONE = Uint8Array.of(1);

export class HoldingRows {
  private readonly commit: Commit;
  private readonly tables: Tables;
  /** The sides of each token, ordered by wallet. */
  private readonly byToken: Buckets;
  /** One sum, at offset 0: the balance change of the current holding. */
  private readonly sum = new WideSums();
  private readonly sumsOwnForm: boolean;
  private saved = 0;

  constructor(commit: Commit, tables: Tables) {
    this.commit = commit;
    this.tables = tables;
    this.byToken = commit.transfers.byToken(commit.tokens.length, commit.byWallet, commit.walletOrder);
    this.sum.words = new Uint32Array(SUM_WORDS);
    this.sumsOwnForm = tables.tokens.sumsOwnForm();
  }

  /** Writes in key order. Call it once, before the wallets are saved, because it changes their token counts. */
  save(): void {
    const { tokens } = this.commit;
    this.tables.tokens.begin();
    for (const position of ascendingOrder(Float64Array.from(tokens, ({ id }) => id)))
      this.saveToken(tokens[position]!, position);
    this.tables.tokens.flush();
    this.byToken.release();
  }

  private saveToken(token: TokenState, position: number): void {
    const { tables, byToken } = this;
    const { transfers, wallets } = this.commit;
    const end = byToken.end(position);
    /** Positions of the first receipt of each wallet. */
    const receipts: number[] = [];
    for (let start = byToken.start(position); start < end; ) {
      /** The wallets of the next holdings, and where the sides of each end. */
      const slots: number[] = [];
      const ends: number[] = [];
      for (let next = start; next < end && slots.length < ROWS_PER_STATEMENT; ) {
        const slot = transfers.walletOf(byToken.sides[next]!);
        while (next < end && transfers.walletOf(byToken.sides[next]!) === slot) next++;
        slots.push(slot);
        ends.push(next);
      }
      const stored = tables.tokens.readHoldings(
        token,
        slots.map((slot) => wallets.ids[slot]!),
      );
      for (const [i, slot] of slots.entries()) {
        const sides = byToken.sides.subarray(start, ends[i]);
        start = ends[i]!;
        if (token.buyers < MAX_FIRST_BUYERS) {
          const receipt = sides.find((side) => isReceipt(transfers, side) && this.counts(token, side));
          if (receipt !== undefined) receipts.push(receipt >>> 1);
        }
        this.saveHolding(token, slot, stored[i], sides);
      }
    }
    if (receipts.length > 0) tables.firstBuyers.add(token, this.receiptsInOrder(receipts));
    tables.tokens.saveToken(token);
  }

  /** `sides` are those of a token and of the wallet in a slot. */
  private saveHolding(
    token: TokenState,
    slot: number,
    stored: StoredHolding | undefined,
    sides: Uint32Array,
  ): void {
    const { sum, tables } = this;
    const { transfers, wallets, onStep } = this.commit;
    if (this.saved++ % ROWS_PER_STEP === 0) onStep();
    sum.words.fill(0);
    sum.reset();
    for (const side of sides) if (this.counts(token, side)) addToSum(transfers, sum, side);
    wallets.tokens[slot]! += tables.tokens.saveHolding(
      token,
      wallets.ids[slot]!,
      stored,
      sides.length,
      sum,
      0,
    );
  }

  /** Whether a side of the token moves its holdings. */
  private counts(token: TokenState, side: Side): boolean {
    return !this.sumsOwnForm || this.commit.transfers.kind[side >>> 1] === token.kind;
  }

  private *receiptsInOrder(positions: number[]): Generator<Buyer> {
    const { firstTransfer, transfers, wallets } = this.commit;
    for (const at of positions.sort((a, b) => a - b)) {
      const wallet = wallets.ids[transfers.receiver[at]!]!;
      if (wallet !== ZERO_WALLET) yield { transfer: firstTransfer + at, wallet };
    }
  }
}

/** Adds a side of a token transfer to the sum of its wallet. A transfer to oneself leaves it. */
function addToSum(transfers: CommitTransfers, sum: WideSums, side: Side): void {
  const at = side >>> 1;
  if (transfers.sender[at] === transfers.receiver[at]) return;
  const isOne = movesOne(transfers.kind[at]!);
  const bytes = isOne ? ONE : transfers.amounts;
  const start = isOne ? 0 : transfers.amountStart(at);
  const end = isOne ? ONE.length : transfers.amountEnd(at);
  if ((side & 1) === 0) sum.subtract(0, bytes, start, end);
  else sum.add(0, bytes, start, end);
}

/** Whether a side receives a non-zero amount. */
function isReceipt(transfers: CommitTransfers, side: Side): boolean {
  const at = side >>> 1;
  const isReceiver = (side & 1) === 1 || transfers.sender[at] === transfers.receiver[at];
  return isReceiver && !transfers.isZero(at);
}
