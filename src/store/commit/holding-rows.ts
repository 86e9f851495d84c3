/** Writes the rows of `tokens`, `holdings` and the tables that follow from them. */
import { ascendingOrder } from '../../lib/ascending-order.ts';
import { TransferKind } from '../../model/transfer-kind.ts';
import { MAX_FIRST_BUYERS, ZERO_WALLET } from '../schema.ts';
import type { Commit } from './commit.ts';
import type { CommitTransfers, Side } from './commit-transfers.ts';
import { ROWS_PER_STEP } from './on-step.ts';
import type { Tables } from './tables.ts';
import type { Receipt } from './token-state.ts';
import { SUM_WORDS, WideSums } from './wide-sums.ts';

/** The amount of an ERC-721 transfer. */
const ONE = Uint8Array.of(1);

/** Writes in key order. Sets how the token counts of the wallets change, so it must run before `saveWallets`. */
export function saveHoldings(commit: Commit, tables: Tables): void {
  const { tokens, transfers, wallets } = commit;
  tables.tokens.begin();
  const byToken = transfers.byToken(tokens.length, commit.byWallet, commit.walletOrder);
  const sums = new WideSums();
  let saved = 0;
  sums.words = new Uint32Array(SUM_WORDS);
  const order = ascendingOrder(Float64Array.from(tokens, ({ id }) => id));
  for (const position of order) {
    const token = tokens[position]!;
    const end = byToken.end(position);
    /** Positions of the first receipt of each wallet, for the first buyers. */
    const receipts: number[] = [];
    for (let i = byToken.start(position); i < end; ) {
      const slot = transfers.walletOf(byToken.sides[i]!);
      const first = i;
      if (saved++ % ROWS_PER_STEP === 0) commit.onStep();
      sums.words.fill(0);
      sums.reset();
      for (; i < end && transfers.walletOf(byToken.sides[i]!) === slot; i++)
        addToSum(transfers, sums, byToken.sides[i]!);
      if (token.buyers < MAX_FIRST_BUYERS && wallets.ids[slot] !== ZERO_WALLET) {
        const receipt = byToken.sides.subarray(first, i).find((side) => isReceipt(transfers, side));
        if (receipt !== undefined) receipts.push(receipt >>> 1);
      }
      wallets.tokens[slot]! += tables.tokens.saveHolding(token, wallets.ids[slot]!, i - first, sums, 0);
    }
    if (receipts.length > 0) tables.tokens.saveBuyers(token, receiptsInOrder(commit, receipts));
    tables.tokens.saveToken(token);
  }
  tables.tokens.flush();
  byToken.release();
}

/** Adds a side of a token transfer to the sum of its wallet. A transfer to oneself leaves it. */
function addToSum(transfers: CommitTransfers, sums: WideSums, side: Side): void {
  const at = side >>> 1;
  if (transfers.sender[at] === transfers.receiver[at]) return;
  const isNft = transfers.kind[at] === TransferKind.erc721;
  const bytes = isNft ? ONE : transfers.amounts;
  const start = isNft ? 0 : transfers.amountStart(at);
  const end = isNft ? ONE.length : transfers.amountEnd(at);
  if ((side & 1) === 0) sums.subtract(0, bytes, start, end);
  else sums.add(0, bytes, start, end);
}

/** Whether a side receives a non-zero amount. */
function isReceipt(transfers: CommitTransfers, side: Side): boolean {
  const at = side >>> 1;
  const isReceiver = (side & 1) === 1 || transfers.sender[at] === transfers.receiver[at];
  return (
    isReceiver &&
    (transfers.kind[at] === TransferKind.erc721 || transfers.amountEnd(at) > transfers.amountStart(at))
  );
}

function* receiptsInOrder(
  { firstTransfer, transfers, wallets }: Commit,
  positions: number[],
): Generator<Receipt> {
  for (const at of positions.sort((a, b) => a - b))
    yield { transfer: firstTransfer + at, wallet: wallets.ids[transfers.receiver[at]!]! };
}
