/** The transfers of a commit as what is derived from them needs them (store/derived.ts). */
import { bytesToBigInt, bytesToDigits } from '../../lib/hex.ts';
import { type BlockBatch, packedValue } from '../../model/block-batch.ts';
import { hasTokenNumber, movesOne } from '../../model/transfer-kind.ts';
import { NATIVE, type PartTransfer } from '../../model/wallet-part.ts';
import type { AddedTransfers } from '../derived-structure.ts';
import { ZERO_WALLET } from '../schema.ts';
import type { Mint } from '../tokens/token-mints.ts';
import { mayTrade } from '../trades/may-trade.ts';
import type { Commit } from './commit.ts';
import { type CommitTransfers, NATIVE as NO_TOKEN } from './commit-transfers.ts';

/** Call it once the tokens of the commit have ids. */
export function addedBy(commit: Commit): AddedTransfers {
  const { firstTransfer, transfers } = commit;
  return {
    first: firstTransfer,
    count: transfers.count,
    tokens: () => tokensOf(commit),
    mints: () => mintsIn(commit),
    trading: () => tradingIn(commit),
  };
}

function tokensOf({ tokens, transfers }: Commit): Float64Array {
  const ids = new Float64Array(transfers.count);
  for (let at = 0; at < ids.length; at++) {
    const token = transfers.token[at]!;
    if (token !== NO_TOKEN) ids[at] = tokens[token]!.id;
  }
  return ids;
}

function* mintsIn({ tokens, transfers, wallets }: Commit): Generator<Mint> {
  for (let at = 0; at < transfers.count; at++) {
    const position = transfers.token[at]!;
    const isOfZero = wallets.ids[transfers.sender[at]!] === ZERO_WALLET;
    if (position === NO_TOKEN || !isOfZero || transfers.receiver[at] === transfers.sender[at]) continue;
    const token = tokens[position]!;
    const kind = transfers.kind[at]!;
    yield { token: token.id, isOwnForm: kind === token.kind, amount: amountOf(transfers, at) };
  }
}

/**
 * Its transactions that may hold trades. Those in gaps are left out: a missing transfer could make any part a trade.
 */
function* tradingIn(commit: Commit): Generator<readonly PartTransfer[]> {
  const { transfers } = commit;
  const columns = { from: transfers.sender, to: transfers.receiver, token: transfers.token };
  let base = 0;
  for (const batch of commit.batches) {
    commit.onStep();
    for (let block = 0, start = 0; block < batch.blockCount; block++) {
      const end = batch.transferEnd[block]!;
      if (isGap(batch, batch.number[block]!)) start = end;
      while (start < end) {
        let next = start + 1;
        while (next < end && batch.tx[next] === batch.tx[start]) next++;
        if (mayTrade(columns, base + start, base + next)) yield partsOf(commit, batch, base, start, next);
        start = next;
      }
    }
    base += batch.transferCount;
  }
}

function isGap({ gaps }: BlockBatch, block: number): boolean {
  return gaps.some(({ first, last }) => first <= block && block <= last);
}

/** The transfers `start..end - 1` of a batch, whose first one is at `base` in the commit. */
function partsOf(
  { transfers, wallets, tokens }: Commit,
  batch: BlockBatch,
  base: number,
  start: number,
  end: number,
): PartTransfer[] {
  const parts: PartTransfer[] = [];
  for (let i = start; i < end; i++) {
    const at = base + i;
    const kind = transfers.kind[at]!;
    const token = transfers.token[at]!;
    parts.push({
      from: wallets.ids[transfers.sender[at]!]!,
      to: wallets.ids[transfers.receiver[at]!]!,
      kind,
      token: token === NO_TOKEN ? NATIVE : tokens[token]!.id,
      tokenNumber: hasTokenNumber(kind)
        ? bytesToDigits(packedValue(batch.tokenNumbers, batch.tokenNumberEnd, i))
        : '',
      amount: amountOf(transfers, at),
    });
  }
  return parts;
}

/** The amount of transfer `at` in base units; 1 for ERC-721. */
function amountOf(transfers: CommitTransfers, at: number): bigint {
  if (movesOne(transfers.kind[at]!)) return 1n;
  return bytesToBigInt(transfers.amounts, transfers.amountStart(at), transfers.amountEnd(at));
}
